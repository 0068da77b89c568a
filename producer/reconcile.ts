import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { restUnlessAborted } from '@hotcell/contract/waits.ts';
import { allShards } from '@hotcell/record/run-marks.ts';
import { LeadLost, Lead } from './lead.ts';
import { OpenRuns, type ReconcileDeps } from './queue-again.ts';

const everyMs = 1_000;
const leadMs = 10_000;
const heartbeatsMs = 2_500;
/** The producer that accepted a run this young is probably still queueing it. */
const youngMs = 30_000;
/** After each pass the leader pauses for so many times as long as it took, within its lead: long queues cost no more. */
const restTimes = 9;
/** A cancel mark this fresh may not have reached Valkey, because the producer that put it could not reach it. */
const freshCancelMs = 60_000;
const cancelsEvery = 5;

/**
 * Queues open runs that have no ticket. One producer leads and does it for all: a shard a second, or everything at once
 * when all tickets may have been lost.
 */
export class Reconciler implements AsyncDisposable {
  readonly #deps: ReconcileDeps;
  readonly #lead: Lead;
  readonly #open: OpenRuns;
  readonly #ends = new AbortController();
  readonly #reconnected: Disposable;
  readonly #working: Promise<void>;
  #leads = false;
  #everything = false;
  #shard = 0;

  constructor(deps: ReconcileDeps) {
    this.#deps = deps;
    this.#lead = new Lead(deps.live.leadership, { task: 'reconciler', me: randomUUID(), forMs: leadMs });
    this.#open = new OpenRuns(deps, this.#ends.signal);
    this.#reconnected = deps.live.onReconnected(() => {
      this.#everything = true;
    });
    this.#working = this.#work();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ends.abort();
    this.#reconnected[Symbol.dispose]();
    await this.#working;
    await this.#lead.resign().catch((error: unknown) => {
      this.#deps.log.info({ error }, 'failed to give up the lead of recovery; it lapses by itself');
    });
  }

  /** Because an operator asks for it, whether or not this producer leads. */
  async sweepAll(): Promise<void> {
    await this.#open.sweepAll(async () => {});
  }

  async #work(): Promise<void> {
    while (!this.#ends.signal.aborted) {
      const restMs = await this.#pass().catch((error: unknown) => {
        // The same failure may have kept producers from queueing the runs that they accepted.
        this.#everything = true;
        if (error instanceof LeadLost) this.#deps.log.info(error.message);
        else this.#deps.log.warn({ error }, 'recovery failed to check every open run; it tries again');
        return everyMs;
      });
      await restUnlessAborted(restMs, this.#ends.signal);
    }
  }

  /** Returns how long to pause. */
  async #pass(): Promise<number> {
    if (!(await this.#takeLead())) return everyMs;
    if (await this.#deps.live.wasEmptied()) {
      this.#everything = true;
      // First let workers repeat their heartbeats, or their runs seem dead and are begun again.
      await pause(heartbeatsMs, undefined, { signal: this.#ends.signal });
    }
    const began = performance.now();
    if (this.#everything) {
      this.#everything = false;
      await this.#open.sweepAll(() => this.#lead.keep());
    } else await this.#sweepNext();
    return Math.min(Math.max(everyMs, restTimes * (performance.now() - began)), leadMs / 2);
  }

  /** A new leader can't know what its predecessor left unfinished, so it checks everything. */
  async #takeLead(): Promise<boolean> {
    const led = this.#leads;
    this.#leads = await this.#lead.take();
    if (this.#leads && !led) this.#everything = true;
    return this.#leads;
  }

  async #sweepNext(): Promise<void> {
    const keep = () => this.#lead.keep();
    if (this.#shard % cancelsEvery === 0) await this.#open.copyCancels(Date.now() - freshCancelMs, keep);
    const shard = allShards[this.#shard++ % allShards.length] ?? '0';
    await this.#open.sweep(shard, Date.now() - youngMs, keep);
  }
}
