import { CancelMark, LiveEvent, RunBeat } from '@hotcell/contract/heartbeats.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { Redis } from 'ioredis';
import { Leadership } from './leadership.ts';
import { StoredBytes } from './stored-bytes.ts';
import { TenantRuns } from './tenant-runs.ts';
import { RefusedTickets } from './refused-tickets.ts';
import { WorkerHeartbeats } from './worker-heartbeats.ts';
import { ifValid, ValkeyConnection } from './valkey-connection.ts';
import { Notifications } from './notifications.ts';
import { LogTails } from './log-tails.ts';

/** Shorter than a ticket's lock: the worker that is given a dead worker's ticket finds its heartbeat gone already. */
const beatMs = 4_000;
const finishedSeconds = 3600;
const cancelSeconds = 86_400;

/**
 * What Valkey holds besides tickets: heartbeats, notifications, tails of logs. All of it can be lost. Every call answers
 * soon or throws `queue_unavailable`; none waits for Valkey to come back.
 */
export class Live extends ValkeyConnection implements AsyncDisposable {
  readonly logs: LogTails;
  readonly workers: WorkerHeartbeats;
  readonly refused: RefusedTickets;
  readonly tenants: TenantRuns;
  readonly stored: StoredBytes;
  readonly leadership: Leadership;
  readonly #notifications: Notifications;
  readonly #closed = new AbortController();

  private constructor(redis: Redis, subscriber: Redis, installation: string) {
    const prefix = `hotcell:${installation}:`;
    super(redis, prefix);
    this.#notifications = new Notifications(subscriber);
    this.logs = new LogTails(redis, prefix, this.#notifications, this.#closed.signal);
    this.workers = new WorkerHeartbeats(redis, prefix);
    this.tenants = new TenantRuns(redis, prefix);
    this.stored = new StoredBytes(redis, prefix);
    this.refused = new RefusedTickets(redis, prefix);
    this.leadership = new Leadership(redis, prefix);
  }

  /** Tries to connect for a few seconds. A process that starts without Valkey connects when it is there. */
  static async open({ url, installation }: { url: string; installation: string }): Promise<Live> {
    const options = {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 3_000,
      commandTimeout: 3_000,
      socketTimeout: 8_000,
      retryStrategy: (times: number) => Math.min(50 * 2 ** Math.min(times, 6), 1_000),
    } as const;
    const redis = new Redis(url, options);
    // What ioredis does of its own after a lost connection ends the process when Valkey doesn't answer it.
    const subscriber = new Redis(url, { ...options, autoResubscribe: false });
    for (const client of [redis, subscriber])
      client.on('error', () => {
        // Each call reports its own failure.
      });
    await Promise.allSettled([redis.connect(), subscriber.connect()]);
    return new Live(redis, subscriber, installation);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    this.#notifications[Symbol.dispose]();
    this.redis.disconnect();
  }

  async ping(): Promise<{ memoryPolicy: string | undefined }> {
    return this.ask(async (redis) => {
      const info = await redis.info('memory');
      return { memoryPolicy: /^maxmemory_policy:(\S+)/m.exec(info)?.[1] };
    });
  }

  /** What it takes of the host's memory, and its file of the disk; null if it keeps none. */
  async size(): Promise<{ memoryBytes: number; appendOnlyFileBytes: number | null }> {
    return this.ask(async (redis) => {
      const [memory, persistence] = await Promise.all([redis.info('memory'), redis.info('persistence')]);
      const file = /^aof_current_size:(\d+)/m.exec(persistence)?.[1];
      return {
        memoryBytes: Number(/^used_memory:(\d+)/m.exec(memory)?.[1] ?? 0),
        appendOnlyFileBytes: file === undefined ? null : Number(file),
      };
    });
  }

  /** True once after Valkey started empty: the caller has to fill it again. */
  async wasEmptied(): Promise<boolean> {
    return this.ask(async (redis) => (await redis.set(this.key('epoch'), new Date().toISOString(), 'NX')) === 'OK');
  }

  /** Heartbeats for all runs of a process, in one round trip. Answers which of them to cancel. */
  async beat(beats: readonly RunBeat[]): Promise<CancelMark[]> {
    if (beats.length === 0) return [];
    const answers = await this.send((pipe) => {
      for (const beat of beats) pipe.set(this.key('run', beat.run), JSON.stringify(beat), 'PX', beatMs);
      return pipe.mget(beats.map((beat) => this.key('cancel', beat.run)));
    });
    const copies = answers.at(-1) as (string | null)[];
    return copies.flatMap((copy) => ifValid(CancelMark, copy) ?? []);
  }

  /** What Valkey knows about a run before it begins: whether it was cancelled, has finished, or is alive on a worker. */
  async before(run: RunId): Promise<{ cancel: CancelMark | undefined; finished: boolean; beat: RunBeat | undefined }> {
    return this.ask(async (redis) => {
      const keys = [this.key('cancel', run), this.key('finished', run), this.key('run', run)];
      const [cancel = null, finished = null, beat = null] = await redis.mget(keys);
      return { cancel: ifValid(CancelMark, cancel), finished: finished !== null, beat: ifValid(RunBeat, beat) };
    });
  }

  /** Publishes a new status at once; heartbeats repeat it. True if the run may have been cancelled. */
  async tell(beat: RunBeat): Promise<boolean> {
    const { run, tenant, status } = beat;
    const answers = await this.send((pipe) => {
      pipe.set(this.key('run', run), JSON.stringify(beat), 'PX', beatMs);
      this.notify(pipe, { type: 'status', run, tenant, status, at: new Date().toISOString() });
      return pipe.exists(this.key('cancel', run));
    });
    return answers.at(-1) === 1;
  }

  /** The run is committed: ends its heartbeat and notifies all that wait for it. */
  async finished(event: Extract<LiveEvent, { type: 'status' }>): Promise<void> {
    await this.send((pipe) => {
      pipe.del(this.key('run', event.run), this.key('cancel', event.run));
      pipe.zrem(this.key('open', event.tenant), event.run);
      pipe.set(this.key('finished', event.run), '1', 'EX', finishedSeconds);
      return this.notify(pipe, event);
    });
  }

  /** Ends the heartbeat of an attempt that did not commit, so that the next one need not wait until it expires. */
  async silence(run: RunId, nonce: string): Promise<void> {
    const script = `local b = redis.call('GET', KEYS[1]); if b and cjson.decode(b).nonce == ARGV[1] then redis.call('DEL', KEYS[1]) end`;
    await this.ask((redis) => redis.eval(script, 1, this.key('run', run), nonce));
  }

  async statusesOf(runs: readonly RunId[]): Promise<(RunBeat | undefined)[]> {
    if (runs.length === 0) return [];
    return this.ask(async (redis) => {
      const found = await redis.mget(runs.map((run) => this.key('run', run)));
      return found.map((text) => ifValid(RunBeat, text));
    });
  }

  /** Copies a cancel mark of the bucket here, and notifies the worker. */
  async cancel(mark: CancelMark): Promise<void> {
    await this.send((pipe) =>
      this.notify(pipe.set(this.key('cancel', mark.run), JSON.stringify(mark), 'EX', cancelSeconds), {
        type: 'cancel',
        run: mark.run,
      }),
    );
  }

  /** Of a session, to its worker or to those who wait for the step: a nudge. */
  async step(run: RunId, step: number, what: 'recorded' | 'interrupt' | 'over'): Promise<void> {
    await this.send((pipe) => this.notify(pipe, { type: 'step', run, step, what }));
  }

  /** To the producer that leads the schedules: it would see the change a little later by itself. */
  async scheduleChanged(tenant: string, name: string): Promise<void> {
    await this.send((pipe) => this.notify(pipe, { type: 'schedule', tenant, name }));
  }

  /** The same when a name of snapshots has a new version, for the schedules that wait for it. */
  async published(tenant: string, name: string): Promise<void> {
    await this.send((pipe) => this.notify(pipe, { type: 'published', tenant, name }));
  }

  /** The same for batches. */
  async batchChanged(tenant: string, batch: RunId): Promise<void> {
    await this.send((pipe) => this.notify(pipe, { type: 'batch', tenant, batch }));
  }

  /** The same for workflows. */
  async workflowChanged(tenant: string, workflow: RunId): Promise<void> {
    await this.send((pipe) => this.notify(pipe, { type: 'workflow', tenant, workflow }));
  }

  /** To the producer that sends webhooks. */
  async webhookChanged(tenant: string): Promise<void> {
    await this.send((pipe) => this.notify(pipe, { type: 'webhook', tenant }));
  }

  onEvent(listener: (event: LiveEvent) => void): Promise<Disposable> {
    return this.#notifications.on(this.key('events'), (message) => {
      const event = ifValid(LiveEvent, message);
      if (event) listener(event);
    });
  }

  onReconnected(listener: () => void): Disposable {
    return this.#notifications.onReconnected(listener);
  }
}
