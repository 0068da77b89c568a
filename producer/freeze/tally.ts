import { HotcellError } from '@hotcell/contract/errors.ts';
import { snapshotLimits } from '@hotcell/contract/snapshot.ts';

/** Counts while listing, and ends the listing at the limit: a million keys are neither held nor read. */
export class Tally {
  files = 0;
  bytes = 0;
  readonly #what: string;
  readonly #limits: { files: number; bytes: number };

  constructor(what: string, limits: { files: number; bytes: number } = snapshotLimits) {
    this.#what = what;
    this.#limits = limits;
  }

  add(size: number): void {
    this.files += 1;
    this.bytes += size;
    const { files, bytes } = this.#limits;
    if (this.files > files)
      throw new HotcellError(
        'too_large',
        `${this.#what} has more than ${files} files, the most that one snapshot holds. Freeze parts of it, or pack small files together.`,
      );
    if (this.bytes > bytes)
      throw new HotcellError(
        'too_large',
        `${this.#what} has more than ${bytes} bytes, the most that one snapshot holds. Freeze parts of it.`,
      );
  }

  /** An input of nothing is a mistake in its address more often than it is meant. */
  refuseNothing(): void {
    if (this.files === 0)
      throw new HotcellError('snapshot_refused', `${this.#what} holds no files. Check its address.`);
  }
}
