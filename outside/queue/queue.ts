import { setTimeout as pause } from 'node:timers/promises';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { DelayedError, type Job, Queue, UnrecoverableError, WaitingError, Worker } from 'bullmq';

export interface QueueSettings {
  url: string;
  installation: string;
}

/** Not believed before the ticket's signature is: `ticket` is whatever lay in the queue. */
export interface Envelope {
  ticket: unknown;
  /** It was put into the queue by recovery: the run may have begun, or be finished, already. */
  again?: true;
}

const prefix = 'tickets';
const topPriority = 2 ** 21 - 1;
const answerWithinMs = 5_000;
/** A worker that dies is noticed when its lock was not renewed for so long. */
const lockMs = 5_000;
const stalledMs = 2_000;

const nameOf = (settings: QueueSettings, queue: string) => `hotcell-${settings.installation}-${queue}`;
const retryStrategy = (times: number) => Math.min(50 * 2 ** Math.min(times, 6), 1_000);

/** Which of these runs have no ticket; one call for a whole page of a list. */
const missingScript = `
  local missing = {}
  for _, id in ipairs(ARGV) do
    if redis.call('EXISTS', KEYS[1] .. id) == 0 then missing[#missing + 1] = id end
  end
  return missing`;
const placesScript = `
  local places = {}
  for _, id in ipairs(ARGV) do
    local rank = redis.call('ZRANK', KEYS[1] .. 'prioritized', id)
    local due = not rank and redis.call('ZSCORE', KEYS[1] .. 'delayed', id)
    if rank then places[#places + 1] = {'waiting', rank}
    elseif due then places[#places + 1] = {'delayed', tostring(due)}
    elseif redis.call('EXISTS', KEYS[1] .. id) == 1 then places[#places + 1] = {'taken', 0}
    else places[#places + 1] = {'missing', 0} end
  end
  return places`;

export type Place =
  | { at: 'waiting'; before: number }
  | { at: 'delayed'; due: Date }
  /** A worker has it. */
  | { at: 'taken' }
  | { at: 'missing' };

/** The asking side of the queues, one per capability. Every call answers soon, or says `queue_unavailable`. */
export class Queues implements AsyncDisposable {
  readonly #settings: QueueSettings;
  readonly #queues = new Map<string, Queue>();

  constructor(settings: QueueSettings) {
    this.#settings = settings;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled([...this.#queues.values()].map((queue) => Promise.race([queue.close(), pause(1_000)])));
  }

  /** A ticket lies under its run's id: adding it again changes nothing. */
  async add(
    queue: string,
    run: string,
    envelope: Envelope,
    options: { priority: number; notBefore?: Date | undefined },
  ): Promise<void> {
    const delay = options.notBefore ? options.notBefore.getTime() - Date.now() : 0;
    await this.#ask(queue, (q) =>
      q.add(envelope.again ? 'again' : 'run', envelope.ticket, {
        jobId: run,
        priority: Math.max(1, Math.min(options.priority, topPriority)),
        ...(delay > 0 ? { delay } : {}),
      }),
    );
  }

  async missing(queue: string, runs: readonly string[]): Promise<string[]> {
    if (runs.length === 0) return [];
    return this.#ask(queue, (q) => script(q, 'hotcellMissing', missingScript, runs));
  }

  async place(queue: string, run: string): Promise<Place> {
    const [place] = await this.places(queue, [run]);
    return place ?? { at: 'missing' };
  }

  /** Where each of these stands, in one call. */
  async places(queue: string, runs: readonly string[]): Promise<Place[]> {
    if (runs.length === 0) return [];
    const places = await this.#ask(queue, (q) =>
      script<[Place['at'], string | number][]>(q, 'hotcellPlaces', placesScript, runs),
    );
    return places.map(([at, value]) => {
      if (at === 'waiting') return { at, before: Number(value) };
      // BullMQ keeps the due time in the upper part of the score, and a counter in its last twelve bits.
      if (at === 'delayed') return { at, due: new Date(Math.floor(Number(value) / 4096)) };
      return { at };
    });
  }

  async depth(queue: string): Promise<number> {
    return this.#ask(queue, (q) => q.getJobCountByTypes('prioritized', 'waiting', 'delayed'));
  }

  /** Best effort: a ticket that a worker has already stays with it. */
  async remove(queue: string, run: string): Promise<void> {
    await this.#ask(queue, (q) => q.remove(run));
  }

  async #ask<T>(queue: string, work: (queue: Queue) => Promise<T>): Promise<T> {
    const over = new AbortController();
    try {
      // BullMQ waits for its connection without a bound.
      const late = pause(answerWithinMs, undefined, { signal: over.signal }).then((): never => {
        throw new Error(`no answer within ${answerWithinMs} ms`);
      });
      return await Promise.race([work(this.#open(queue)), late]);
    } catch (cause) {
      throw new HotcellError('queue_unavailable', `the queue ${queue} does not answer (${messageOf(cause)})`, {
        cause,
      });
    } finally {
      over.abort();
    }
  }

  #open(name: string): Queue {
    const found = this.#queues.get(name);
    if (found) return found;
    const queue = new Queue(nameOf(this.#settings, name), {
      prefix,
      connection: {
        url: this.#settings.url,
        enableOfflineQueue: false,
        maxRetriesPerRequest: 1,
        socketTimeout: 8_000,
        retryStrategy,
      },
      streams: { events: { maxLen: 1000 } },
    });
    queue.on('error', () => {
      // Whoever asks is told; between the asking there is nobody to tell.
    });
    this.#queues.set(name, queue);
    return queue;
  }
}

async function script<T>(queue: Queue, name: string, lua: string, values: readonly string[]): Promise<T> {
  const client = await queue.getBackend().client;
  client.defineCommand(name, { numberOfKeys: 1, lua });
  return client.runCommand(name, [queue.toKey(''), ...values]);
}

/** What became of a ticket: `later` and `back` use up nothing of it. */
export type Served =
  | { kind: 'done' }
  | { kind: 'refused'; why: string }
  | { kind: 'later'; afterMs: number }
  | { kind: 'back' };

export interface Pulled {
  id: string;
  data: unknown;
  priority: number;
  /** Taken before, by somebody who did not finish it, or queued anew by recovery. */
  before: boolean;
}

export interface Service {
  queue: string;
  /** How many tickets may be held at once. */
  atOnce: number;
  serve(pulled: Pulled): Promise<Served>;
  /** The ticket is out of the queue. */
  acked(run: string): void;
  /** The lock on this ticket is gone: another worker may be given it any moment. */
  lockLost(run: string): void;
  problem(error: Error): void;
}

/** The pulling side of one queue. */
export class Pull {
  readonly #worker: Worker;
  readonly #serving = new Set<Promise<void>>();

  constructor(settings: QueueSettings, service: Service) {
    const serveOne = (job: Job<unknown>, token: string | undefined): Promise<void> => {
      const serving = serveJob(service, job, token).finally(() => this.#serving.delete(serving));
      this.#serving.add(serving);
      return serving;
    };
    this.#worker = new Worker(nameOf(settings, service.queue), serveOne, {
      prefix,
      connection: {
        url: settings.url,
        maxRetriesPerRequest: null,
        retryStrategy,
        connectTimeout: 3_000,
        // Longer than any call that waits for a ticket. A Valkey whose machine is gone never says that it is.
        socketTimeout: 15_000,
      },
      concurrency: service.atOnce,
      lockDuration: lockMs,
      stalledInterval: stalledMs,
      // Attempts are counted from the claims in the bucket: BullMQ has no say in when a run is lost.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      runRetryDelay: 500,
      drainDelay: 5,
      removeOnComplete: { count: 0 },
      // What was refused is told elsewhere; left lying here it would keep the run's real ticket out.
      removeOnFail: { count: 0 },
    });
    this.#worker.on('lockRenewalFailed', (runs: string[]) => {
      for (const run of runs) service.lockLost(run);
    });
    this.#worker.on('completed', (job) => service.acked(job.id ?? ''));
    this.#worker.on('error', (error) => service.problem(error));
  }

  /** How many tickets may be held from now on: those held already stay. */
  hold(count: number): void {
    this.#worker.concurrency = Math.max(1, count);
  }

  /** Take no more. What is held is served to its end. */
  async stop(): Promise<void> {
    await this.#worker.pause(true);
  }

  /** Until nothing is held any more. */
  async idle(): Promise<void> {
    while (this.#serving.size > 0) await Promise.allSettled(this.#serving);
  }

  /** Everything held was served before. */
  async close(): Promise<void> {
    await Promise.race([this.#worker.close(), pause(3_000)]);
  }
}

async function serveJob(service: Service, job: Job<unknown>, token: string | undefined): Promise<void> {
  const before = job.name === 'again' || job.attemptsStarted > 1 || job.stalledCounter > 0;
  const served = await service.serve({ id: job.id ?? '', data: job.data, priority: job.priority, before });
  switch (served.kind) {
    case 'done':
      return;
    case 'refused':
      throw new UnrecoverableError(served.why);
    case 'later':
      await job.moveToDelayed(Date.now() + served.afterMs, token);
      throw new DelayedError();
    case 'back':
      await job.moveToWait(token);
      throw new WaitingError();
  }
}
