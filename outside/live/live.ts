import { type LiveEvent, RunBeat } from '@hotcell/contract/heartbeats.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { CancelMark } from '@hotcell/contract/heartbeats.ts';
import { Redis } from 'ioredis';
import { Leadership } from './leadership.ts';
import { RefusedTickets } from './refused-tickets.ts';
import { WorkerHeartbeats } from './worker-heartbeats.ts';
import { all, ValkeyConnection, ifValid } from './valkey-connection.ts';
import { Notifications, publish } from './notifications.ts';
import { LogTails } from './log-tails.ts';

export interface LiveSettings {
  url: string;
  installation: string;
}

/** Shorter than a ticket's lock: the worker that is given a dead worker's ticket finds its heartbeat gone already. */
const beatMs = 4_000;
const finishedSeconds = 3600;
const cancelSeconds = 86_400;

/**
 * What Valkey holds besides tickets: heartbeats, notifications, tails of logs. All of it can be lost. Every call answers
 * soon or throws `queue_unavailable`; none waits for Valkey to come back.
 */
export class Live implements AsyncDisposable {
  readonly events: Notifications;
  readonly logs: LogTails;
  readonly workers: WorkerHeartbeats;
  readonly refused: RefusedTickets;
  readonly leadership: Leadership;
  readonly #redis: Redis;
  readonly #door: ValkeyConnection;
  readonly #closed = new AbortController();

  private constructor(redis: Redis, subscriber: Redis, installation: string) {
    this.#redis = redis;
    this.#door = new ValkeyConnection(redis, `hotcell:${installation}:`);
    this.events = new Notifications(subscriber);
    this.logs = new LogTails(this.#door, this.events, this.#closed.signal);
    this.workers = new WorkerHeartbeats(this.#door);
    this.refused = new RefusedTickets(this.#door);
    this.leadership = new Leadership(this.#door);
  }

  /** Tries to connect for a few seconds. A process that starts without Valkey connects when it is there. */
  static async open(settings: LiveSettings): Promise<Live> {
    const options = {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 3_000,
      commandTimeout: 3_000,
      socketTimeout: 8_000,
      retryStrategy: (times: number) => Math.min(50 * 2 ** Math.min(times, 6), 1_000),
    } as const;
    const redis = new Redis(settings.url, options);
    const subscriber = new Redis(settings.url, options);
    for (const client of [redis, subscriber])
      client.on('error', () => {
        // Each call reports its own failure.
      });
    await Promise.allSettled([redis.connect(), subscriber.connect()]);
    return new Live(redis, subscriber, settings.installation);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    this.events[Symbol.dispose]();
    this.#redis.disconnect();
  }

  async ping(): Promise<{ memoryPolicy: string | undefined }> {
    return this.#door.ask(async (redis) => {
      const info = await redis.info('memory');
      return { memoryPolicy: /^maxmemory_policy:(\S+)/m.exec(info)?.[1] };
    });
  }

  /** True once after Valkey started empty: the caller has to fill it again. */
  async wasEmptied(): Promise<boolean> {
    return this.#door.ask(
      async (redis) => (await redis.set(this.#door.key('epoch'), new Date().toISOString(), 'NX')) === 'OK',
    );
  }

  /** Heartbeats for all runs of a process, in one round trip. Answers which of them to cancel. */
  async beat(beats: readonly RunBeat[]): Promise<CancelMark[]> {
    if (beats.length === 0) return [];
    return this.#door.ask(async (redis) => {
      const pipe = redis.pipeline();
      for (const beat of beats) pipe.set(this.#door.key('run', beat.run), JSON.stringify(beat), 'PX', beatMs);
      pipe.mget(beats.map((beat) => this.#door.key('cancel', beat.run)));
      const answers = await all(pipe);
      const copies = answers.at(-1) as (string | null)[];
      return copies.flatMap((copy) => ifValid(CancelMark, copy) ?? []);
    });
  }

  /** What Valkey knows about a run before it begins: whether it was cancelled, has finished, or is alive on a worker. */
  async before(run: RunId): Promise<{ cancel: CancelMark | undefined; finished: boolean; beat: RunBeat | undefined }> {
    return this.#door.ask(async (redis) => {
      const keys = [this.#door.key('cancel', run), this.#door.key('finished', run), this.#door.key('run', run)];
      const [cancel = null, finished = null, beat = null] = await redis.mget(keys);
      return { cancel: ifValid(CancelMark, cancel), finished: finished !== null, beat: ifValid(RunBeat, beat) };
    });
  }

  /** Publishes a new status at once; heartbeats repeat it. True if the run may have been cancelled. */
  async tell(beat: RunBeat): Promise<boolean> {
    const { run, tenant, status } = beat;
    return this.#door.ask(async (redis) => {
      const pipe = redis.pipeline().set(this.#door.key('run', run), JSON.stringify(beat), 'PX', beatMs);
      publish(this.#door, pipe, { type: 'status', run, tenant, status, at: new Date().toISOString() });
      return (await all(pipe.exists(this.#door.key('cancel', run)))).at(-1) === 1;
    });
  }

  /** The run is committed: ends its heartbeat and notifies all that wait for it. */
  async finished(event: Extract<LiveEvent, { type: 'status' }>): Promise<void> {
    await this.#door.ask((redis) => {
      const pipe = redis
        .pipeline()
        .del(this.#door.key('run', event.run), this.#door.key('cancel', event.run))
        .set(this.#door.key('finished', event.run), '1', 'EX', finishedSeconds);
      return all(publish(this.#door, pipe, event));
    });
  }

  /** Ends the heartbeat of an attempt that did not commit, so that the next one need not wait until it expires. */
  async silence(run: RunId, nonce: string): Promise<void> {
    await this.#door.ask((redis) =>
      redis.eval(
        `local b = redis.call('GET', KEYS[1]); if b and cjson.decode(b).nonce == ARGV[1] then redis.call('DEL', KEYS[1]) end`,
        1,
        this.#door.key('run', run),
        nonce,
      ),
    );
  }

  async statusesOf(runs: readonly RunId[]): Promise<(RunBeat | undefined)[]> {
    if (runs.length === 0) return [];
    return this.#door.ask(async (redis) => {
      const found = await redis.mget(runs.map((run) => this.#door.key('run', run)));
      return found.map((text) => ifValid(RunBeat, text));
    });
  }

  /** Copies a cancel mark of the bucket here, and notifies the worker. */
  async cancel(mark: CancelMark): Promise<void> {
    await this.#door.ask((redis) => {
      const pipe = redis.pipeline().set(this.#door.key('cancel', mark.run), JSON.stringify(mark), 'EX', cancelSeconds);
      return all(publish(this.#door, pipe, { type: 'cancel', run: mark.run }));
    });
  }

  onEvent(listener: (event: LiveEvent) => void): Promise<Disposable> {
    return this.events.onEvent(this.#door.key('events'), listener);
  }

  onReconnected(listener: () => void): Disposable {
    return this.events.onReconnected(listener);
  }
}
