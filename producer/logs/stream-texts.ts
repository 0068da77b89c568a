import { bytesOf, type LogRow } from '@hotcell/contract/log-rows.ts';

/** Of each stream, so much of its start and so much of its end. */
const endBytes = 32 * 1024;

/** The head and the tail of a stream, however long it is. Memory: three times `endBytes`. */
class Ends {
  readonly #head: Buffer[] = [];
  #room = endBytes;
  #tail: Buffer[] = [];
  #held = 0;
  #leftOut = 0;

  add(bytes: Buffer): void {
    const head = bytes.subarray(0, this.#room);
    if (head.length > 0) this.#head.push(head);
    this.#room -= head.length;
    const rest = bytes.subarray(head.length);
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#held += rest.length;
    // Not at each row: joining costs as much as is held.
    if (this.#held >= 2 * endBytes) this.#trim();
  }

  /** What comes later belongs to the end. */
  leaveOut(bytes: number): void {
    this.#leftOut += bytes;
    this.#room = 0;
  }

  get isWhole(): boolean {
    return this.#leftOut === 0;
  }

  get text(): string {
    this.#trim();
    const [head, tail] = [Buffer.concat(this.#head).toString(), Buffer.concat(this.#tail).toString()];
    return this.#leftOut > 0 ? `${head}\n[… ${this.#leftOut} bytes left out …]\n${tail}` : head + tail;
  }

  #trim(): void {
    if (this.#held <= endBytes) return;
    const all = Buffer.concat(this.#tail);
    this.#leftOut += all.length - endBytes;
    this.#tail = [Buffer.from(all.subarray(all.length - endBytes))];
    this.#held = endBytes;
  }
}

/** What a program wrote to each stream, as text. What the log limit cut counts as left out of the stream that went on. */
export async function streamTexts(rows: AsyncIterable<LogRow>) {
  const ends = { stdout: new Ends(), stderr: new Ends() };
  for await (const row of rows) {
    const stream = ends[row.stream];
    if (row.dropped !== undefined) stream.leaveOut(row.dropped);
    else stream.add(bytesOf(row));
  }
  const [stdout, stderr] = [ends.stdout.text, ends.stderr.text];
  return { stdout, stderr, truncated: !ends.stdout.isWhole || !ends.stderr.isWhole };
}
