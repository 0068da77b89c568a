type Stream = 'stdout' | 'stderr';
export interface Written {
  block: number;
  stream: Stream;
  at: Date;
  bytes: Buffer;
}

/** What is longer is no line that a program writes in pieces. */
const longest = 4096;
const newline = 0x0a;

/**
 * Joins what a program writes in pieces: Python's unbuffered `print(1)` writes the text and its newline one after the
 * other. A line that isn't complete waits for its rest; what comes of another stream or block goes behind it.
 */
export class JoinedWrites {
  #open: Written | undefined;

  /** What can go on now, in order. */
  add(next: Written): Written[] {
    const open = this.#open;
    const joins = open?.block === next.block && open.stream === next.stream;
    const before = open && !joins ? [open] : [];
    const whole = open && joins ? { ...open, bytes: Buffer.concat([open.bytes, next.bytes]) } : next;
    const isOpen = whole.bytes.length < longest && whole.bytes.at(-1) !== newline;
    // A copy: the bytes are a view of a buffer that the cell's reader reuses.
    this.#open = isOpen ? { ...whole, bytes: Buffer.from(whole.bytes) } : undefined;
    return isOpen ? before : [...before, whole];
  }

  /** A line that waits for its rest. */
  get isWaiting(): boolean {
    return this.#open !== undefined;
  }

  /** It waits no longer. */
  take(): Written[] {
    const open = this.#open;
    this.#open = undefined;
    return open ? [open] : [];
  }
}
