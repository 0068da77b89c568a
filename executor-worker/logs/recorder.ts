import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createZstdCompress } from 'node:zlib';
import type { Digest } from '@hotcell/contract/digest.ts';
import type { LogRow } from '@hotcell/contract/log-rows.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { LogFeed } from './log-feed.ts';
import { budgetOf, LogWindow } from './window.ts';

/** Stores the whole log, compressed, as it comes. */
type PutLog = (chunks: AsyncIterable<Uint8Array>) => Promise<void>;

/**
 * Sends a run's log to live readers at once, and to the bucket compressed and hashed. It holds only the window at the
 * end; a slow store slows the job down instead of filling memory.
 */
export class LogRecorder {
  readonly #window: LogWindow;
  readonly #live: LogFeed;
  readonly #zstd = createZstdCompress();
  readonly #hash = createHash('sha256');
  readonly #stored: Promise<unknown>;

  constructor({ put, limitBytes, live }: { put: PutLog; limitBytes: number; live: LogFeed }) {
    this.#window = new LogWindow(budgetOf(limitBytes));
    this.#live = live;
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
    await this.#emit(this.#window.push(block, stream, at, bytes));
  }

  gap(bytes: number): void {
    this.#window.gap(bytes);
  }

  async endOfBlock(): Promise<void> {
    await this.#emit(this.#window.flush());
  }

  async finish(): Promise<Result['logs']> {
    await this.#emit(this.#window.finish());
    await this.#live.close();
    this.#zstd.end();
    await this.#stored;
    const sha256: Digest = `sha256:${this.#hash.digest('hex')}`;
    return { sha256, bytes: this.#window.written, truncated: this.#window.truncated };
  }

  /** The attempt was given up: aborts the upload. */
  async abandon(): Promise<void> {
    this.#zstd.destroy(new Error('the attempt was given up'));
    await Promise.allSettled([this.#stored, this.#live.close()]);
  }

  async #emit(rows: readonly LogRow[]): Promise<void> {
    if (rows.length === 0) return;
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
