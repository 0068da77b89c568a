import { readResult } from '@hotcell/record/commit.ts';
import type { LiveEvent } from '@hotcell/contract/heartbeats.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import type { ReadModel } from './readmodel/read-model.ts';

type StatusEvent = Extract<LiveEvent, { type: 'status' }>;

/** However a message gets lost, nobody waits longer than this for something that has happened. */
const lookEveryMs = 2_000;
const lookAtOnce = 32;
const mostTold = 32;

/** What one who waits has been told and not yet taken: an empty list when woken means "look for yourself". */
class Watch implements Disposable {
  #told: StatusEvent[] = [];
  #woken = Promise.withResolvers<void>();
  readonly #leave: () => void;

  constructor(leave: () => void) {
    this.#leave = leave;
  }

  wake(event?: StatusEvent): void {
    if (event) this.#told.push(event);
    // Who does not come to take them needs the newest; what came and went before is no loss.
    if (this.#told.length > mostTold) this.#told.shift();
    this.#woken.resolve();
  }

  async next(signal: AbortSignal): Promise<StatusEvent[]> {
    const end = () => this.#woken.resolve();
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    await this.#woken.promise;
    signal.removeEventListener('abort', end);
    this.#woken = Promise.withResolvers();
    return this.#told.splice(0);
  }

  [Symbol.dispose](): void {
    this.#leave();
  }
}

interface NewsDeps {
  live: Live;
  store: Buckets;
  model: ReadModel;
  log: Logger;
}

/**
 * What happens to runs, heard once per process and spread to whoever waits for it. Messages are nudges: what counts is
 * read from the bucket, and it is read again after every reconnection and, a few at a time, every two seconds.
 */
export class News implements Disposable {
  readonly #deps: NewsDeps;
  readonly #watches = new Map<string, Set<Watch>>();
  readonly #subscriptions = new DisposableStack();

  private constructor(deps: NewsDeps) {
    this.#deps = deps;
  }

  static async open(deps: NewsDeps): Promise<News> {
    const news = new News(deps);
    const { live } = deps;
    news.#subscriptions.use(await live.onEvent((event) => event.type === 'status' && news.#heard(event)));
    news.#subscriptions.use(live.onReconnected(() => news.#wakeAll()));
    const timer = setInterval(() => news.#wakeSome(), lookEveryMs);
    news.#subscriptions.defer(() => clearInterval(timer));
    return news;
  }

  [Symbol.dispose](): void {
    this.#subscriptions.dispose();
    this.#wakeAll();
  }

  async resultOf(tenant: string, run: RunId): Promise<Result | undefined> {
    const { store } = this.#deps;
    return await readResult(store, tenant, run);
  }

  /** The result as soon as there is one, or nothing when the signal ends the waiting. */
  async waitForResult(tenant: string, run: RunId, signal: AbortSignal): Promise<Result | undefined> {
    // Watching begins before looking: what happens in between is not missed.
    using watch = this.watch(run);
    for (;;) {
      const result = await this.resultOf(tenant, run);
      if (result || signal.aborted) return result;
      // Only an end, or not having been told anything, is worth a look into the bucket.
      for (;;) {
        const told = await watch.next(signal);
        if (told.length === 0 || told.some((event) => event.status === 'finished')) break;
      }
    }
  }

  watch(run: RunId): Watch {
    const all = this.#watches.get(run) ?? new Set();
    const watch: Watch = new Watch(() => {
      all.delete(watch);
      if (all.size === 0 && this.#watches.get(run) === all) this.#watches.delete(run);
    });
    this.#watches.set(run, all.add(watch));
    return watch;
  }

  #heard(event: StatusEvent): void {
    const { model, log } = this.#deps;
    try {
      if (event.status !== 'finished') model.progressed(event.run, event.status);
      else if (event.outcome) model.ended(event.run, event.outcome, event.at);
    } catch (error) {
      // Lists may lag; nobody who waits for this run may.
      log.warn({ err: error, run: event.run }, 'the read model did not take a status');
    }
    for (const watch of this.#watches.get(event.run) ?? []) watch.wake(event);
  }

  #wakeAll(): void {
    for (const watches of this.#watches.values()) for (const watch of watches) watch.wake();
  }

  /** Round and round, a few at a time: those that were woken go to the end. */
  #wakeSome(): void {
    for (const [run, watches] of [...this.#watches.entries()].slice(0, lookAtOnce)) {
      this.#watches.delete(run);
      this.#watches.set(run, watches);
      for (const watch of watches) watch.wake();
    }
  }
}
