import { chunkOf, cutTail, type LogRow } from '@hotcell/contract/log-rows.ts';

type Stream = 'stdout' | 'stderr';
interface Piece {
  block: number;
  stream: Stream;
  at: Date;
  bytes: Buffer;
}

/** A quarter of the limit, at most 64 KiB, is kept for the end: there a program says why it failed. */
export function budgetOf(logBytes: number): { headBytes: number; tailBytes: number } {
  const tailBytes = Math.min(64 * 1024, Math.floor(logBytes / 4));
  return { headBytes: logBytes - tailBytes, tailBytes };
}

/**
 * What is kept of a log: everything up to the head's budget, then a window that moves with the end. What falls between
 * the two is counted and marked. Init does the same in the cell; this does not rely on it.
 */
export class LogWindow {
  readonly #headBytes: number;
  readonly #tailBytes: number;
  #seq = 0;
  #kept = 0;
  #tail: Piece[] = [];
  #tailSize = 0;
  #dropped = 0;
  readonly #cut = new Map<Stream, Piece>();
  /** What the job wrote, kept or not. */
  written = 0;

  constructor(budget: { headBytes: number; tailBytes: number }) {
    this.#headBytes = budget.headBytes;
    this.#tailBytes = budget.tailBytes;
  }

  /** Whether something was written that is not kept. */
  get truncated(): boolean {
    return this.#dropped > 0;
  }

  /** The rows that this chunk completes. Past the head there are none until the end. */
  push(block: number, stream: Stream, at: Date, chunk: Buffer): LogRow[] {
    this.written += chunk.length;
    const before = this.#cut.get(stream);
    this.#cut.delete(stream);
    const bytes = before && before.block === block ? Buffer.concat([before.bytes, chunk]) : chunk;
    const rows = before && before.block !== block ? this.#keep(before) : [];
    const cut = cutTail(bytes);
    // A copy: the chunk is a view of a buffer that the cell's reader reuses.
    if (cut > 0) this.#cut.set(stream, { block, stream, at, bytes: Buffer.from(bytes.subarray(bytes.length - cut)) });
    if (cut < bytes.length)
      rows.push(...this.#keep({ block, stream, at, bytes: bytes.subarray(0, bytes.length - cut) }));
    return rows;
  }

  /** The cell itself dropped this much: what is in the window comes before it and is dropped as well. */
  gap(bytes: number): void {
    this.written += bytes;
    this.#dropped += bytes + this.#tailSize;
    this.#tail = [];
    this.#tailSize = 0;
  }

  /** A block is over: a character that was cut at its end won't be completed. */
  flush(): LogRow[] {
    const held = [...this.#cut.values()];
    this.#cut.clear();
    return held.flatMap((piece) => this.#keep(piece));
  }

  /** The row that marks what is missing, and the window at the end. */
  finish(): LogRow[] {
    const rows = this.flush();
    const [first] = this.#tail;
    if (this.#dropped > 0) {
      const at = first?.at ?? new Date();
      rows.push({
        seq: this.#seq++,
        at: at.toISOString(),
        block: first?.block ?? 0,
        stream: first?.stream ?? 'stdout',
        text: '',
        dropped: this.#dropped,
      });
    }
    rows.push(...this.#tail.map((held) => this.#row(held)));
    this.#tail = [];
    return rows;
  }

  #keep(held: Piece): LogRow[] {
    const room = this.#headBytes - this.#kept;
    const head = held.bytes.subarray(0, Math.max(0, room));
    const rest = held.bytes.subarray(head.length);
    this.#kept += head.length;
    if (rest.length > 0) this.#toTail({ ...held, bytes: Buffer.from(rest) });
    return head.length > 0 ? [this.#row({ ...held, bytes: head })] : [];
  }

  #toTail(held: Piece): void {
    this.#tail.push(held);
    this.#tailSize += held.bytes.length;
    while (this.#tailSize > this.#tailBytes) {
      const oldest = this.#tail[0];
      if (!oldest) break;
      const surplus = Math.min(oldest.bytes.length, this.#tailSize - this.#tailBytes);
      if (surplus === oldest.bytes.length) this.#tail.shift();
      else oldest.bytes = oldest.bytes.subarray(surplus);
      this.#tailSize -= surplus;
      this.#dropped += surplus;
    }
  }

  #row(held: Piece): LogRow {
    return {
      seq: this.#seq++,
      at: held.at.toISOString(),
      block: held.block,
      stream: held.stream,
      ...chunkOf(held.bytes),
    };
  }
}
