import type { LogRow } from '@hotcell/contract/log-rows.ts';

export interface LogFeedSettings {
  /** To the work bucket, as the segment of this number. */
  putSegment: (index: number, body: string) => Promise<void>;
  /** To the capped stream in Valkey. If Valkey is away, live readers wait for the segments. */
  publish: (rows: readonly LogRow[]) => Promise<void>;
  onError: (what: string, error: unknown) => void;
}

const segmentBytes = 1024 * 1024;
const segmentMs = 5_000;
/** So much may wait for Valkey. */
const mostLiveBytes = 1024 * 1024;

/**
 * A log for live readers: rows go to Valkey at once, and every 5 s or 1 MiB a segment goes to the work bucket, so that a
 * late reader gets everything from the start although the stream is capped. Neither may fail the run: the stored log is
 * what counts. It holds two segments at most: a store that is slower than the log slows the job, as it does by the stored
 * log.
 */
export class LogFeed {
  readonly #settings: LogFeedSettings;
  #pending: string[] = [];
  #pendingBytes = 0;
  #segments = 0;
  #timer: NodeJS.Timeout | undefined;
  #putting: Promise<void> | undefined;
  #waiting: LogRow[] = [];
  #liveBytes = 0;
  #publishing: Promise<void> = Promise.resolve();

  constructor(settings: LogFeedSettings) {
    this.#settings = settings;
  }

  /** Resolves when there is room for more. */
  async append(rows: readonly LogRow[], text: string): Promise<void> {
    this.#publish(rows, text.length);
    this.#pending.push(text);
    this.#pendingBytes += text.length;
    if (this.#pendingBytes < segmentBytes) {
      this.#putSoon();
      return;
    }
    await this.#putting;
    this.#putSegment();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#putting;
    // A short run needs no segment: its log is in the record in a moment.
    if (this.#segments > 0) this.#putSegment();
    await Promise.all([this.#publishing, this.#putting]);
  }

  /** One call at a time; rows that come meanwhile go with the next. Past the bound readers wait for a segment. */
  #publish(rows: readonly LogRow[], bytes: number): void {
    if (this.#liveBytes > mostLiveBytes) return;
    const first = this.#waiting.length === 0;
    this.#waiting.push(...rows);
    this.#liveBytes += bytes;
    if (!first) return;
    this.#publishing = this.#publishing.then(async () => {
      const batch = this.#waiting;
      const batchBytes = this.#liveBytes;
      this.#waiting = [];
      await this.#settings
        .publish(batch)
        .catch((error: unknown) => this.#settings.onError('failed to publish live log rows', error));
      this.#liveBytes -= batchBytes;
    });
  }

  #putSoon(): void {
    this.#timer ??= setTimeout(() => this.#putSegment(), segmentMs).unref();
  }

  /** One at a time: while one is on its way, what came meanwhile waits for it. */
  #putSegment(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending.length === 0 || this.#putting) return;
    const body = this.#pending.join('');
    this.#pending = [];
    this.#pendingBytes = 0;
    const { putSegment, onError } = this.#settings;
    const index = this.#segments++;
    this.#putting = putSegment(index, body)
      .catch((error: unknown) => onError(`failed to write the log segment ${index}`, error))
      .finally(() => {
        this.#putting = undefined;
        if (this.#pending.length > 0) this.#putSoon();
      });
  }
}
