import { setTimeout as pause } from 'node:timers/promises';
import { LogRow } from '@hotcell/contract/log-rows.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { all, type ValkeyConnection, ifValid } from './valkey-connection.ts';
import type { Notifications } from './notifications.ts';

const logSeconds = 3600;
const logRows = 2000;

/** The tails of logs, for clients that follow them. The whole log is in the buckets. */
export class LogTails {
  readonly #door: ValkeyConnection;
  readonly #events: Notifications;
  readonly #closed: AbortSignal;

  constructor(door: ValkeyConnection, events: Notifications, closed: AbortSignal) {
    this.#door = door;
    this.#events = events;
    this.#closed = closed;
  }

  /** Capped, and gone an hour after the last row. */
  async append(run: RunId, attempt: number, rows: readonly LogRow[]): Promise<void> {
    if (rows.length === 0) return;
    await this.#door.ask((redis) => {
      const key = this.#door.key('log', run);
      const pipe = redis.pipeline();
      // The id is the row's place: a row sent twice is kept once, and reading on from a row needs no search.
      for (const row of rows)
        pipe.xadd(key, 'MAXLEN', '~', logRows, `${attempt}-${row.seq + 1}`, 'row', JSON.stringify(row));
      return all(pipe.expire(key, logSeconds).publish(key, '1'), /equal or smaller/);
    });
  }

  /** The rows after `afterSeq` (-1: all) that are still here: earlier ones may be gone. */
  async read(run: RunId, attempt: number, afterSeq: number, count = 500): Promise<LogRow[]> {
    return this.#door.ask(async (redis) => {
      const entries = await redis.xrange(
        this.#door.key('log', run),
        `(${attempt}-${afterSeq + 1}`,
        `${attempt}-18446744073709551615`,
        'COUNT',
        count,
      );
      return entries.flatMap(([, fields]) => ifValid(LogRow, fields[1] ?? null) ?? []);
    });
  }

  /** Yields whenever there may be more rows: after new ones, after a reconnection, and every two seconds. */
  async *follow(run: RunId, options: { signal?: AbortSignal } = {}): AsyncGenerator<void> {
    const ends = AbortSignal.any([this.#closed, ...(options.signal ? [options.signal] : [])]);
    let wake = new AbortController();
    using _rows = await this.#events.on(this.#door.key('log', run), () => wake.abort());
    using _back = this.#events.onReconnected(() => wake.abort());
    while (!ends.aborted) {
      yield;
      await pause(2_000, undefined, { signal: AbortSignal.any([ends, wake.signal]) }).catch(() => {
        // Woken: that is what this waits for.
      });
      wake = new AbortController();
    }
  }
}
