import { putSegment } from '@hotcell/record/run-logs.ts';
import type { LogRow } from '@hotcell/contract/log-rows.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';

export interface LogFeedSettings {
  store: Buckets;
  run: RunId;
  attempt: number;
  /** To the capped stream in Valkey. If Valkey is away, live readers wait for the segments. */
  publish: (rows: readonly LogRow[]) => Promise<void>;
  onError: (what: string, error: unknown) => void;
}

const segmentBytes = 1024 * 1024;
const segmentMs = 5_000;

/**
 * A log for live readers: rows go to Valkey at once, and every 5 s or 1 MiB a segment goes to the work bucket, so that a
 * late reader gets everything from the start although the stream is capped. Neither may delay or fail the run: the stored
 * log is what counts.
 */
export class LogFeed {
  readonly #settings: LogFeedSettings;
  #pending: string[] = [];
  #pendingBytes = 0;
  #segments = 0;
  #timer: NodeJS.Timeout | undefined;
  #publishing: Promise<void> = Promise.resolve();
  #waiting: LogRow[] = [];
  #waitingBytes = 0;
  #putting: Promise<void> = Promise.resolve();

  constructor(settings: LogFeedSettings) {
    this.#settings = settings;
  }

  append(rows: readonly LogRow[], text: string): void {
    this.#publish(rows, text.length);
    this.#pending.push(text);
    this.#pendingBytes += text.length;
    if (this.#pendingBytes >= segmentBytes) this.#putSegment();
    else this.#timer ??= setTimeout(() => this.#putSegment(), segmentMs).unref();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    // A short run needs no segment: its log is in the record in a moment.
    if (this.#segments > 0) this.#putSegment();
    await Promise.all([this.#publishing, this.#putting]);
  }

  /** One call at a time; rows that come meanwhile go with the next. Past 4 MiB readers wait for a segment. */
  #publish(rows: readonly LogRow[], bytes: number): void {
    if (this.#waitingBytes > 4 * segmentBytes) return;
    const first = this.#waiting.length === 0;
    this.#waiting.push(...rows);
    this.#waitingBytes += bytes;
    if (!first) return;
    this.#publishing = this.#publishing.then(async () => {
      const batch = this.#waiting;
      this.#waiting = [];
      this.#waitingBytes = 0;
      await this.#settings
        .publish(batch)
        .catch((error: unknown) => this.#settings.onError('failed to publish live log rows', error));
    });
  }

  #putSegment(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending.length === 0) return;
    const body = this.#pending.join('');
    this.#pending = [];
    this.#pendingBytes = 0;
    const { store, run, attempt, onError } = this.#settings;
    const index = this.#segments++;
    this.#putting = this.#putting.then(() =>
      putSegment(store, run, attempt, index, body).catch((error: unknown) =>
        onError(`failed to write the log segment ${index}`, error),
      ),
    );
  }
}
