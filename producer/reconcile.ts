import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { allShards } from '@hotcell/record/layout.ts';
import { type RunId, timeOf } from '@hotcell/contract/names.ts';
import { cancelMarks, openRuns, readOpenMarker } from '@hotcell/record/run-marks.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { type EnqueueDeps, enqueue } from './enqueue.ts';

export interface ReconcileDeps extends EnqueueDeps {
  store: Buckets;
}

const everyMs = 1_000;
const officeMs = 10_000;
const heartbeatsMs = 2_500;
/** A run this young is most likely still being queued by whoever accepted it. */
const youngMs = 30_000;
const page = 500;
/** Where much waits, looking after it is followed by so many times as long a rest, within the time in office. */
const restTimes = 9;
const atOnce = 16;
/** A cancel whose copy did not get into Valkey is brought there by whoever is in office, as long as it is so young. */
const cancelsEvery = 5;
const freshCancelMs = 60_000;

/**
 * Queues what is open and not queued. One process of all does it: a shard a second, and everything at once when it may
 * be that everything was lost.
 */
export class Reconciler implements AsyncDisposable {
  readonly #deps: ReconcileDeps;
  readonly #me = randomUUID();
  readonly #ends = new AbortController();
  readonly #back: Disposable;
  /** Queues met so far: in which of them a run's ticket lies is only told by its marker. */
  readonly #queues = new Set<string>();
  readonly #working: Promise<void>;
  #everything = true;
  #shard = 0;

  constructor(deps: ReconcileDeps) {
    this.#deps = deps;
    this.#back = deps.live.onReconnected(() => {
      this.#everything = true;
    });
    this.#working = this.#work();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ends.abort();
    this.#back[Symbol.dispose]();
    await this.#working;
    await this.#deps.live.resign('reconciler', this.#me).catch((error: unknown) => {
      this.#deps.log.info({ error }, 'the office of the reconciler is free when its time is over');
    });
  }

  async #work(): Promise<void> {
    let leader = false;
    while (!this.#ends.signal.aborted) {
      let restMs = everyMs;
      try {
        const was = leader;
        leader = await this.#deps.live.lead('reconciler', this.#me, officeMs);
        // Who comes new into office does not know what the one before him did not get to.
        if (leader && !was) this.#everything = true;
        if (leader && (await this.#deps.live.wasEmptied())) await this.#afterEmptied();
        const since = performance.now();
        if (leader) await this.#round();
        restMs = Math.min(Math.max(everyMs, restTimes * (performance.now() - since)), officeMs / 2);
      } catch (error) {
        // What refused us may have refused others: who was accepted meanwhile may not be queued.
        this.#everything = true;
        this.#deps.log.warn({ error }, 'recovery could not look at everything: it looks again');
      }
      await pause(restMs, undefined, { signal: this.#ends.signal }).catch(() => {
        // Asked to end: the loop sees it.
      });
    }
  }

  /** Those who are at a run say so again first: otherwise others would take it for dead, and begin it anew. */
  async #afterEmptied(): Promise<void> {
    this.#everything = true;
    await pause(heartbeatsMs, undefined, { signal: this.#ends.signal });
  }

  async #round(): Promise<void> {
    if (!this.#everything) {
      if (this.#shard % cancelsEvery === 0) await this.#copyCancels(Date.now() - freshCancelMs);
      const shard = allShards[this.#shard++ % allShards.length] ?? '0';
      return this.#sweep(shard, Date.now() - youngMs);
    }
    this.#everything = false;
    await this.sweepAll();
  }

  /** Every open run, also the youngest; and what was cancelled, to be heard by whoever is at it. */
  async sweepAll(): Promise<void> {
    await this.#copyCancels(0);
    for (const shard of allShards) {
      if (this.#ends.signal.aborted) return;
      await this.#sweep(shard, Number.POSITIVE_INFINITY);
      // Long lists: the office is kept by saying so.
      await this.#deps.live.lead('reconciler', this.#me, officeMs);
    }
  }

  async #sweep(shard: string, bornBefore: number): Promise<void> {
    const { store } = this.#deps;
    let found = new Map<RunId, string>();
    for await (const { tenant, run } of openRuns(store, shard)) {
      if (timeOf(run).getTime() > bornBefore) continue;
      found.set(run, tenant);
      if (found.size < page) continue;
      await this.#queueMissing(found);
      found = new Map();
      if (this.#ends.signal.aborted) return;
    }
    await this.#queueMissing(found);
  }

  async #queueMissing(found: ReadonlyMap<RunId, string>): Promise<void> {
    let missing = [...found.keys()];
    const asked = new Set(this.#queues);
    for (const queue of asked) missing = await this.#deps.queues.of(queue).missing(missing);
    if (missing.length > 0) crashPoint('reconcile.found');
    for (let from = 0; from < missing.length && !this.#ends.signal.aborted; from += atOnce)
      await Promise.all(
        missing.slice(from, from + atOnce).map((run) => this.#queueAgain(found.get(run) ?? '', run, asked)),
      );
  }

  async #queueAgain(tenant: string, run: RunId, asked: ReadonlySet<string>): Promise<void> {
    const { store, queues, log } = this.#deps;
    // Read now, not when it was listed: a run that was finished meanwhile has none any more.
    const marker = await readOpenMarker(store, tenant, run).catch((error: unknown) => {
      if (!(error instanceof HotcellError && error.code === 'record_damaged')) throw error;
      log.error({ run, error }, 'cannot read an open marker, so its run cannot be queued again');
      return undefined;
    });
    if (!marker) return;
    this.#queues.add(marker.queue);
    if (!asked.has(marker.queue) && (await queues.of(marker.queue).missing([marker.run])).length === 0) return;
    await enqueue(this.#deps, marker, { recovered: true });
    crashPoint('reconcile.queued');
    log.info({ run: marker.run, queue: marker.queue }, 'open and not queued: queued again');
  }

  async #copyCancels(since: number): Promise<void> {
    const { store, live } = this.#deps;
    for await (const mark of cancelMarks(store, since)) {
      if (this.#ends.signal.aborted) return;
      await live.cancel(mark);
    }
  }
}
