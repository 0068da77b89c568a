import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createZstdCompress } from 'node:zlib';
import type { Digest } from '@hotcell/contract/digest.ts';
import type { LogRow } from '@hotcell/contract/log-rows.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { LogFeed } from './log-feed.ts';
import { JoinedWrites, type Written } from './joined-writes.ts';
import { budgetOf, LogWindow } from './window.ts';

/** So long a line waits for its rest. */
const lineMs = 100;

/** Stores the whole log, compressed, as it comes. */
type PutLog = (chunks: AsyncIterable<Uint8Array>) => Promise<void>;

interface Recording {
  put: PutLog;
  limitBytes: number;
  live: LogFeed;
  /** Each row that is kept, as it goes out. */
  heard?: (rows: readonly LogRow[]) => void;
}

/**
 * Sends a run's log to live readers at once, and to the bucket compressed and hashed. It holds only the window at the
 * end; a slow store slows the job down instead of filling memory.
 */
export class LogRecorder {
  readonly #window: LogWindow;
  readonly #live: LogFeed;
  readonly #heard: Recording['heard'];
  readonly #zstd = createZstdCompress();
  readonly #hash = createHash('sha256');
  readonly #stored: Promise<unknown>;
  readonly #lines = new JoinedWrites();
  #waitsSince: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Of a line that waited too long. */
  #late: Promise<void> = Promise.resolve();

  constructor({ put, limitBytes, live, heard }: Recording) {
    this.#window = new LogWindow(budgetOf(limitBytes));
    this.#live = live;
    this.#heard = heard;
    this.#stored = put(this.#hashed());
    // A failure is thrown by the next write or by finish; until then it must not end the process.
    this.#stored.catch((error: unknown) =>
      this.#zstd.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  }

  get written(): number {
    return this.#window.written;
  }

  get truncated(): boolean {
    return this.#window.truncated;
  }

  async write(block: number, stream: 'stdout' | 'stderr', at: Date, bytes: Buffer): Promise<void> {
    // Only one of them emits rows at a time: they would get into each other's order.
    clearTimeout(this.#timer);
    await this.#late;
    const ready = this.#lines.add({ block, stream, at, bytes });
    if (ready.length > 0) this.#waitsSince = undefined;
    this.#waitsSince ??= performance.now();
    await this.#push(ready);
    const leftMs = this.#waitsSince + lineMs - performance.now();
    if (!this.#lines.isWaiting || leftMs <= 0) return this.#release();
    this.#timer = setTimeout(() => this.#waitNoLonger(), leftMs).unref();
  }

  async gap(bytes: number): Promise<void> {
    await this.#release();
    this.#window.gap(bytes);
  }

  async endOfBlock(): Promise<void> {
    await this.#release();
    await this.#emit(this.#window.flush());
  }

  async finish(): Promise<Result['logs']> {
    await this.#release();
    await this.#emit(this.#window.finish());
    await this.#live.close();
    this.#zstd.end();
    await this.#stored;
    const sha256: Digest = `sha256:${this.#hash.digest('hex')}`;
    return { sha256, bytes: this.#window.written, truncated: this.#window.truncated };
  }

  /** The attempt was given up: aborts the upload. */
  async abandon(): Promise<void> {
    clearTimeout(this.#timer);
    this.#zstd.destroy(new Error('the attempt was given up'));
    await Promise.allSettled([this.#stored, this.#live.close()]);
  }

  /** A line that is not complete goes on as it is. */
  async #release(): Promise<void> {
    clearTimeout(this.#timer);
    this.#waitsSince = undefined;
    await this.#late;
    await this.#push(this.#lines.take());
  }

  async #push(written: readonly Written[]): Promise<void> {
    for (const { block, stream, at, bytes } of written) await this.#emit(this.#window.push(block, stream, at, bytes));
  }

  /** Those who follow the log see a prompt, or the dots of a progress, soon. */
  #waitNoLonger(): void {
    this.#waitsSince = undefined;
    this.#late = this.#push(this.#lines.take());
    // A failure is thrown by the next write or by finish.
    this.#late.catch(() => undefined);
  }

  async #emit(rows: readonly LogRow[]): Promise<void> {
    if (rows.length === 0) return;
    this.#heard?.(rows);
    const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    await this.#live.append(rows, text);
    if (this.#zstd.destroyed) await this.#stored;
    // A failure of the stream rejects this as well.
    if (!this.#zstd.write(text)) await once(this.#zstd, 'drain');
  }

  async *#hashed(): AsyncGenerator<Buffer> {
    for await (const chunk of this.#zstd as AsyncIterable<Buffer>) {
      this.#hash.update(chunk);
      yield chunk;
    }
  }
}
