import { bytesOf, lineOf, type LogRow } from '@hotcell/contract/log-rows.ts';

/** Of a step's rows as text, so much of their start and so much of their end. The session's log has all of them. */
const endBytes = 2 * 1024 ** 2;

interface Held {
  row: LogRow;
  text: string;
}

/** What a step wrote: its beginning and its end, however much it is. */
export class StepLog {
  readonly #head: Held[] = [];
  #room: number;
  #tail: Held[] = [];
  #first = 0;
  #tailBytes = 0;
  #leftOut = 0;
  #heard = 0;
  readonly #endBytes: number;

  constructor(most = endBytes) {
    this.#room = most;
    this.#endBytes = most;
  }

  add(rows: readonly LogRow[]): void {
    for (const row of rows) this.#add({ row, text: lineOf(row) });
  }

  /** The rows that are kept, with marks where bytes are missing: those left out here, and those past the session's limit. */
  finish(written: number, { block, at }: Pick<LogRow, 'block' | 'at'>): { rows: LogRow[]; text: string } {
    const mark = (seq: number, dropped: number): Held[] => {
      const row: LogRow = { seq, at, block, stream: 'stdout', dropped };
      return dropped > 0 ? [{ row, text: lineOf(row) }] : [];
    };
    const after = (held: Held | undefined) => (held ? held.row.seq + 1 : 0);
    const tail = this.#tail.slice(this.#first);
    const middle = mark(after(this.#head.at(-1)), this.#leftOut);
    const end = mark(after(tail.at(-1) ?? middle[0] ?? this.#head.at(-1)), written - this.#heard);
    const all = [...this.#head, ...middle, ...tail, ...end];
    return { rows: all.map(({ row }) => row), text: all.map(({ text }) => text).join('') };
  }

  #add(held: Held): void {
    this.#heard += sizeOf(held.row);
    const size = held.text.length;
    if (size <= this.#room) {
      this.#room -= size;
      this.#head.push(held);
      return;
    }
    // What follows belongs to the end.
    this.#room = 0;
    this.#tail.push(held);
    this.#tailBytes += size;
    while (this.#tailBytes > this.#endBytes) this.#leaveOutOldest();
  }

  #leaveOutOldest(): void {
    const oldest = this.#tail[this.#first++];
    if (!oldest) return;
    this.#tailBytes -= oldest.text.length;
    this.#leftOut += sizeOf(oldest.row);
    // Not at each row: moving the others costs as much as they are.
    if (this.#first * 2 < this.#tail.length) return;
    this.#tail = this.#tail.slice(this.#first);
    this.#first = 0;
  }
}

function sizeOf(row: LogRow): number {
  return row.dropped ?? bytesOf(row).length;
}
