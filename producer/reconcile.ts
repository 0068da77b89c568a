import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { type RunId, timeOf } from '@hotcell/contract/names.ts';
import { allShards, cancelMarks, openRuns, readOpenMarker } from '@hotcell/record/run-marks.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { type EnqueueDeps, enqueue } from './enqueue.ts';

export interface ReconcileDeps extends EnqueueDeps {
  store: Buckets;
}

const everyMs = 1_000;
const leadMs = 10_000;
const heartbeatsMs = 2_500;
/** The producer that accepted a run this young is probably still queueing it. */
const youngMs = 30_000;
const page = 500;
/** After each pass the leader pauses for so many times as long as it took, within its lead: long queues cost no more. */
const restTimes = 9;
const atOnce = 16;
/** A cancel mark this fresh may not have reached Valkey, because the producer that put it could not reach it. */
const freshCancelMs = 60_000;
const cancelsEvery = 5;

/**
 * Queues open runs that have no ticket. One producer leads and does it for all: a shard a second, or everything at once
 * when all tickets may have been lost.
 */
export class Reconciler implements AsyncDisposable {
  readonly #deps: ReconcileDeps;
  readonly #me = randomUUID();
  readonly #ends = new AbortController();
  readonly #reconnected: Disposable;
  /** The queues met so far: only a run's marker tells in which of them its ticket lies. */
  readonly #queues = new Set<string>();
  readonly #working: Promise<void>;
  #leads = false;
  #everything = false;
  #shard = 0;

  constructor(deps: ReconcileDeps) {
    this.#deps = deps;
    this.#reconnected = deps.live.onReconnected(() => {
      this.#everything = true;
    });
    this.#working = this.#work();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ends.abort();
    this.#reconnected[Symbol.dispose]();
    await this.#working;
    await this.#deps.live.leadership.resign('reconciler', this.#me).catch((error: unknown) => {
      this.#deps.log.info({ error }, 'failed to give up the lead of recovery; it lapses by itself');
    });
  }

  async #work(): Promise<void> {
    while (!this.#ends.signal.aborted) {
      const restMs = await this.#pass().catch((error: unknown) => {
        // The same failure may have kept producers from queueing the runs that they accepted.
        this.#everything = true;
        this.#deps.log.warn({ error }, 'recovery failed to check every open run; it tries again');
        return everyMs;
      });
      await pause(restMs, undefined, { signal: this.#ends.signal }).catch(() => {
        // Asked to end: the loop sees it.
      });
    }
  }

  /** Returns how long to pause. */
  async #pass(): Promise<number> {
    if (!(await this.#lead())) return everyMs;
    if (await this.#deps.live.wasEmptied()) {
      this.#everything = true;
      // First let workers repeat their heartbeats, or their runs seem dead and are begun again.
      await pause(heartbeatsMs, undefined, { signal: this.#ends.signal });
    }
    const began = performance.now();
    if (this.#everything) {
      this.#everything = false;
      await this.sweepAll();
    } else await this.#sweepNext();
    return Math.min(Math.max(everyMs, restTimes * (performance.now() - began)), leadMs / 2);
  }

  /** A new leader can't know what its predecessor left unfinished, so it checks everything. */
  async #lead(): Promise<boolean> {
    const led = this.#leads;
    this.#leads = await this.#deps.live.leadership.lead('reconciler', this.#me, leadMs);
    if (this.#leads && !led) this.#everything = true;
    return this.#leads;
  }

  async #sweepNext(): Promise<void> {
    if (this.#shard % cancelsEvery === 0) await this.#copyCancels(Date.now() - freshCancelMs);
    const shard = allShards[this.#shard++ % allShards.length] ?? '0';
    await this.#sweep(shard, Date.now() - youngMs);
  }

  /** Every open run, even the youngest, and every cancel, so that the worker that has the run hears of it. */
  async sweepAll(): Promise<void> {
    await this.#copyCancels(0);
    for (const shard of allShards) {
      if (this.#ends.signal.aborted) return;
      await this.#sweep(shard, Number.POSITIVE_INFINITY);
      // Long lists take longer than a lead lasts.
      await this.#deps.live.leadership.lead('reconciler', this.#me, leadMs);
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
    // Read now, not when it was listed: a run that has finished meanwhile has no marker any more.
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
    log.info({ run: marker.run, queue: marker.queue }, 'queued an open run that had no ticket');
  }

  async #copyCancels(since: number): Promise<void> {
    const { store, live } = this.#deps;
    for await (const mark of cancelMarks(store, since)) {
      if (this.#ends.signal.aborted) return;
      await live.cancel(mark);
    }
  }
}
