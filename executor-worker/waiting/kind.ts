import type { Digest } from '@hotcell/contract/digest.ts';
import { outlasts } from '../cell/cell-class.ts';
import type { CellPlan } from '../cell/cell-plan.ts';
import type { WaitingCell } from '../cell/waiting-cell.ts';
import type { LateInputs } from '../inputs/late-inputs.ts';
import { type Demand, type DemandTimes, noDemand, noteArrival, usesOf } from './demand.ts';

/** A cell that waits in the pool, with what it has of this host. */
export interface Held {
  cell: WaitingCell;
  late: LateInputs;
  loan: Disposable;
  /** What it was made from: it serves no run that may last longer. */
  plan: CellPlan;
  since: number;
}

const mostPreloadFailures = 2;
const firstMakeMs = 250;
const retryMs = { first: 1_000, most: 60_000 };

/** A class that runs asked for: its demand, and its cells that wait. */
export class Kind {
  readonly key: Digest;
  /** The digest of its cells' init. */
  readonly init: Digest;
  /** The policies that gave such cells to runs, each by the digest that it had. */
  readonly policies = new Map<string, string>();
  readonly held: Held[] = [];
  #preloadFailures = 0;
  plan: CellPlan;
  #demand: Demand = noDemand;
  #makeMs = firstMakeMs;
  #failures = 0;
  #notBefore = 0;

  constructor(key: Digest, init: Digest, plan: CellPlan) {
    this.key = key;
    this.init = init;
    this.plan = plan;
  }

  asked(plan: CellPlan, now: number, keepMs: number): void {
    // New cells are made for the longest of its runs.
    if (!outlasts(this.plan, plan)) this.plan = plan;
    this.#demand = noteArrival(this.#demand, now, this.#times(keepMs));
  }

  uses(now: number, keepMs: number): number[] {
    return usesOf(this.#demand, now, this.#times(keepMs));
  }

  get lastAsked(): number {
    return this.#demand.arrivals.at(-1) ?? 0;
  }

  /** How many arrivals it remembers. */
  get remembered(): number {
    return this.#demand.arrivals.length;
  }

  /** The one that waited longest, of those that last long enough. */
  take(plan: CellPlan): Held | undefined {
    const at = this.held.findIndex((one) => outlasts(one.plan, plan));
    return at < 0 ? undefined : this.held.splice(at, 1)[0];
  }

  made(ms: number): void {
    this.#failures = 0;
    this.#makeMs = this.#makeMs * 0.7 + ms * 0.3;
  }

  /** Tried again later and later: what can't be made must not keep the host busy. */
  failed(now: number): void {
    this.#notBefore = now + Math.min(retryMs.most, retryMs.first * 2 ** this.#failures);
    this.#failures += 1;
  }

  /** A preload that fails again and again is left out: a cell without it serves its run as well. */
  preloadFailed(): void {
    this.#preloadFailures += 1;
  }

  /** What its next cell is made from. */
  get nextPlan(): CellPlan {
    const { preload: _, ...plain } = this.plan;
    return this.#preloadFailures < mostPreloadFailures ? this.plan : plain;
  }

  mayMake(now: number): boolean {
    return now >= this.#notBefore;
  }

  /** One cell is made at a time, so that runs which come close together find fewer than came. */
  #times(keepMs: number): DemandTimes {
    return { windowMs: this.#makeMs * 2, keepMs };
  }
}
