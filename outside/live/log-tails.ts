import { restUnlessAborted } from '@hotcell/contract/waits.ts';
import { LogRow } from '@hotcell/contract/log-rows.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Redis } from 'ioredis';
import type { Notifications } from './notifications.ts';
import { ifValid, ValkeyConnection } from './valkey-connection.ts';

const logSeconds = 3600;
const logRows = 2000;
const lookEveryMs = 2_000;

/** The tails of logs, for clients that follow them. The whole log is in the buckets. */
export class LogTails extends ValkeyConnection {
  readonly #events: Notifications;
  readonly #closed: AbortSignal;

  constructor(redis: Redis, prefix: string, events: Notifications, closed: AbortSignal) {
    super(redis, prefix);
    this.#events = events;
    this.#closed = closed;
  }

  /** Capped, and gone an hour after the last row. */
  async append(run: RunId, attempt: number, rows: readonly LogRow[]): Promise<void> {
    if (rows.length === 0) return;
    const key = this.key('log', run);
    await this.send((pipe) => {
      // The id is the row's place: a row sent twice is kept once, and reading on from a row needs no search.
      for (const row of rows)
        pipe.xadd(key, 'MAXLEN', '~', logRows, `${attempt}-${row.seq + 1}`, 'row', JSON.stringify(row));
      return pipe.expire(key, logSeconds).publish(key, '1');
    }, /equal or smaller/);
  }

  /** The rows after `afterSeq` (-1: all) that are still here: earlier ones may be gone. */
  async read(run: RunId, attempt: number, afterSeq: number, count: number): Promise<LogRow[]> {
    return this.ask(async (redis) => {
      const [from, to] = [`(${attempt}-${afterSeq + 1}`, `${attempt}-18446744073709551615`];
      const entries = await redis.xrange(this.key('log', run), from, to, 'COUNT', count);
      return entries.flatMap(([, fields]) => ifValid(LogRow, fields[1] ?? null) ?? []);
    });
  }

  /** Yields whenever there may be more rows: after new ones, after a reconnection, and every two seconds. */
  async *follow(run: RunId, signal: AbortSignal): AsyncGenerator<void> {
    const ends = AbortSignal.any([this.#closed, signal]);
    let wake = new AbortController();
    using _rows = await this.#events.on(this.key('log', run), () => wake.abort());
    using _back = this.#events.onReconnected(() => wake.abort());
    while (!ends.aborted) {
      yield;
      // At the same moment for all of this process: those who follow one run share what they then read.
      await restUnlessAborted(lookEveryMs - (Date.now() % lookEveryMs), AbortSignal.any([ends, wake.signal]));
      wake = new AbortController();
    }
  }
}
