import { readResult } from '@hotcell/record/commit.ts';
import type { LiveEvent } from '@hotcell/contract/heartbeats.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { SharedReads } from './follow/shared-reads.ts';
import type { ReadModel } from './readmodel/read-model.ts';

type StatusEvent = Extract<LiveEvent, { type: 'status' }>;
type StepEvent = Extract<LiveEvent, { type: 'step' }>;

const stepsOf = (run: RunId) => `${run}/steps`;

/** If a message is lost, a waiting caller learns of the event within this time. */
const lookEveryMs = 2_000;
const lookAtOnce = 32;
const mostTold = 32;

/** Events that a waiting caller has not taken yet. Woken with an empty list, it reads the bucket itself. */
class Listener implements Disposable {
  #told: StatusEvent[] = [];
  #woken = Promise.withResolvers<void>();
  readonly #leave: () => void;

  constructor(leave: () => void) {
    this.#leave = leave;
  }

  wake(event?: StatusEvent): void {
    if (event) this.#told.push(event);
    // A slow listener needs the newest; statuses that came and went are no loss.
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
  live: Pick<Live, 'onEvent' | 'onReconnected'>;
  store: Buckets;
  model: Pick<ReadModel, 'note'>;
}

/**
 * What happens to runs: heard once per process, and passed on to every caller that waits for it. Messages are only
 * nudges: the bucket decides, and is read again after every reconnection and, a few runs at a time, every two seconds.
 */
export class News implements Disposable {
  readonly #deps: NewsDeps;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #results = new SharedReads<Result | undefined>();
  readonly #subscriptions = new DisposableStack();

  private constructor(deps: NewsDeps) {
    this.#deps = deps;
  }

  static async open(deps: NewsDeps): Promise<News> {
    const news = new News(deps);
    const { live } = deps;
    const hear = (event: LiveEvent) => {
      if (event.type === 'status') news.#heard(event);
      if (event.type === 'step') news.#heardOfStep(event);
    };
    news.#subscriptions.use(await live.onEvent(hear));
    news.#subscriptions.use(live.onReconnected(() => news.#wakeAll()));
    const timer = setInterval(() => news.#wakeSome(), lookEveryMs);
    news.#subscriptions.defer(() => clearInterval(timer));
    return news;
  }

  [Symbol.dispose](): void {
    this.#subscriptions.dispose();
    this.#wakeAll();
  }

  resultOf(tenant: string, run: RunId): Promise<Result | undefined> {
    return this.#results.read(`${tenant}/${run}`, () => readResult(this.#deps.store, tenant, run));
  }

  /** The result as soon as there is one; undefined when the signal ends the wait. */
  async waitForResult(tenant: string, run: RunId, signal: AbortSignal): Promise<Result | undefined> {
    // Listening begins before reading: nothing in between is missed.
    using listener = this.listen(run);
    for (;;) {
      const result = await this.resultOf(tenant, run);
      if (result || signal.aborted) return result;
      // Only an end, or a wake without an event, is worth reading the bucket.
      for (;;) {
        const told = await listener.next(signal);
        if (told.length === 0 || told.some((event) => event.status === 'finished')) break;
      }
    }
  }

  listen(run: RunId): Listener {
    return this.#listen(run);
  }

  #listen(run: string): Listener {
    const all = this.#listeners.get(run) ?? new Set();
    const listener: Listener = new Listener(() => {
      all.delete(listener);
      if (all.size === 0 && this.#listeners.get(run) === all) this.#listeners.delete(run);
    });
    this.#listeners.set(run, all.add(listener));
    return listener;
  }

  /** To what becomes of a session's steps: woken without an event, as by all that may have ended. */
  listenToSteps(run: RunId): Listener {
    return this.#listen(stepsOf(run));
  }

  #heardOfStep({ run, what }: StepEvent): void {
    if (what === 'over') for (const listener of this.#listeners.get(stepsOf(run)) ?? []) listener.wake();
  }

  #heard(event: StatusEvent): void {
    const { model } = this.#deps;
    const { tenant, run, status, outcome, at } = event;
    if (status !== 'finished') model.note({ kind: 'progressed', tenant, run, status });
    else if (outcome) model.note({ kind: 'ended', tenant, run, outcome, at });
    for (const listener of this.#listeners.get(event.run) ?? []) listener.wake(event);
    if (status === 'finished') for (const listener of this.#listeners.get(stepsOf(run)) ?? []) listener.wake();
  }

  #wakeAll(): void {
    for (const listeners of this.#listeners.values()) for (const listener of listeners) listener.wake();
  }

  /** A few at a time, in turn: those that were woken go to the end. */
  #wakeSome(): void {
    for (const [run, listeners] of [...this.#listeners.entries()].slice(0, lookAtOnce)) {
      this.#listeners.delete(run);
      this.#listeners.set(run, listeners);
      for (const listener of listeners) listener.wake();
    }
  }
}
