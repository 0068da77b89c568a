import type { LogRow } from '@hotcell/contract/log-rows.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { segmentsOf } from '@hotcell/record/run-logs.ts';

/** Rows read at once. */
const most = 500;
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
  readonly #deps: { store: Buckets; live: Live };
  readonly #run: RunId;
  /** The attempt that is followed; 0 until one is known. */
  attempt = 0;
  #segment: string | undefined;
  #lookedAt = -Infinity;
  /** The last row given. */
  after: number;

  constructor(deps: { store: Buckets; live: Live }, run: RunId, after: number) {
    this.#deps = deps;
    this.#run = run;
    this.after = after;
  }

  /** Every new row that directly follows those already given. */
  async *rows(): AsyncGenerator<LogRow> {
    await this.#findAttempt();
    if (this.attempt === 0) return;
    for (;;) {
      const given = this.after;
      const found = await this.#deps.live.logs.read(this.#run, this.attempt, this.after, most);
      yield* this.#take(found);
      const isHole = (found.at(-1)?.seq ?? -1) > this.after;
      if (!isHole && found.length === most) continue;
      if (!isHole && this.after > given) return;
      if (performance.now() - this.#lookedAt < (isHole ? holeMs : segmentMs)) return;
      const before = this.after;
      yield* this.#fromSegments();
      if (this.after === before) return;
    }
  }

  /** A later attempt writes its own log from the start; the log of an earlier one ended with it. */
  async #findAttempt(): Promise<void> {
    const [beat] = await this.#deps.live.statusesOf([this.#run]);
    const attempt = beat?.attempt ?? 0;
    if (attempt === 0 || attempt === this.attempt) return;
    if (this.attempt !== 0) this.after = -1;
    this.attempt = attempt;
    this.#segment = undefined;
    this.#lookedAt = -Infinity;
  }

  async *#fromSegments(): AsyncGenerator<LogRow> {
    const { store } = this.#deps;
    this.#lookedAt = performance.now();
    for await (const { name, rows } of segmentsOf(store, this.#run, this.attempt, this.#segment)) {
      for await (const row of rows) yield* this.#take([row]);
      this.#segment = name;
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
