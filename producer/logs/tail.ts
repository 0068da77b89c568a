import type { LogRow } from '@hotcell/contract/log-rows.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { mostRows, type TailReads } from './tail-reads.ts';

type Reads = Pick<TailReads, 'attempt' | 'rows' | 'segments' | 'segment'>;

/** As often as a worker writes a segment: rows that never reached the stream show there. */
const segmentMs = 5_000;
/** While rows are missing that the next segment will have. */
const holeMs = 1_000;

/**
 * The log of a run that goes on: from the capped stream in Valkey, and rows that fell out of it or never reached it from
 * the segments. Rows are given in order without a gap; a gap is filled by a later read. Segments are read when they are
 * needed, not at every wake: it costs a listing.
 */
export class LogTail {
  readonly #reads: Reads;
  readonly #run: RunId;
  /** The attempt that is followed; 0 until one is known. */
  attempt = 0;
  #segment: string | undefined;
  /** The last row given. */
  after: number;

  constructor(reads: Reads, run: RunId, after: number) {
    this.#reads = reads;
    this.#run = run;
    this.after = after;
  }

  /** Every new row that directly follows those already given. */
  async *rows(): AsyncGenerator<LogRow> {
    await this.#findAttempt();
    if (this.attempt === 0) return;
    for (;;) {
      const given = this.after;
      const found = await this.#reads.rows(this.#run, this.attempt, this.after);
      yield* this.#take(found);
      const isHole = (found.at(-1)?.seq ?? -1) > this.after;
      if (!isHole && found.length === mostRows) continue;
      if (!isHole && this.after > given) return;
      const before = this.after;
      yield* this.#fromSegments(isHole ? holeMs : segmentMs);
      if (this.after === before) return;
    }
  }

  /** A later attempt writes its own log from the start; the log of an earlier one ended with it. */
  async #findAttempt(): Promise<void> {
    const attempt = await this.#reads.attempt(this.#run);
    if (attempt === 0 || attempt === this.attempt) return;
    if (this.attempt !== 0) this.after = -1;
    this.attempt = attempt;
    this.#segment = undefined;
  }

  async *#fromSegments(everyMs: number): AsyncGenerator<LogRow> {
    for (;;) {
      const names = await this.#reads.segments(this.#run, this.attempt, this.#segment, everyMs);
      if (names.length === 0) return;
      for (const name of names) {
        const rows = await this.#reads.segment(name);
        if (!rows) return;
        yield* this.#take(rows);
        this.#segment = name;
      }
    }
  }

  *#take(rows: readonly LogRow[]): Generator<LogRow> {
    for (const row of rows) {
      if (row.seq <= this.after) continue;
      if (row.seq !== this.after + 1) return;
      this.after = row.seq;
      yield row;
    }
  }
}
