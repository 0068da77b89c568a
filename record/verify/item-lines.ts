import { createHash } from 'node:crypto';

const digestBytes = 32;

/** The digest of each item's line in the manifest before, for rounds that carry it on: 32 bytes for an item. */
export class ItemLines {
  readonly #digests: Buffer;

  constructor(items: number) {
    this.#digests = Buffer.alloc(items * digestBytes);
  }

  /** Whether the line is that of the round before. True where no round before had one that could be verified. */
  isSame(item: number, line: string): boolean {
    const before = this.#at(item);
    return before.equals(nothing) || before.equals(digestOfLine(line));
  }

  note(item: number, line: string): void {
    digestOfLine(line).copy(this.#digests, item * digestBytes);
  }

  #at(item: number): Buffer {
    return this.#digests.subarray(item * digestBytes, (item + 1) * digestBytes);
  }
}

const nothing = Buffer.alloc(digestBytes);
const digestOfLine = (line: string) => createHash('sha256').update(line).digest();
