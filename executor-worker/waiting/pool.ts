import type { Digest } from '@hotcell/contract/digest.ts';
import { waitingTakes } from '@hotcell/contract/cell-bounds.ts';
import type { CellBeat } from '@hotcell/contract/heartbeats.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { within } from '@hotcell/contract/waits.ts';
import type { WhyCold } from '@hotcell/contract/why-cold.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import { isPreloadFailure } from '../cell/cell-events.ts';
import { classKey, classOf, waitingPlan } from '../cell/cell-class.ts';
import type { CellPlan } from '../cell/cell-plan.ts';
import type { Left } from '../cell/destroy.ts';
import type { Cells } from '../cell/open.ts';
import type { SealedCell } from '../cell/sealed-cell.ts';
import { LateInputs } from '../inputs/late-inputs.ts';
import type { Places } from '../inputs/places.ts';
import type { InputParts } from '../inputs/stage.ts';
import type { Capacity } from '../pull/capacity.ts';
import { type Held, Kind } from './kind.ts';
import { Kinds, type PolicyAsked } from './kinds.ts';
import type { PinnedClasses } from './pinned-classes.ts';
import { shareOut } from './share-out.ts';

export interface PoolDeps {
  cells: Pick<Cells, 'open' | 'openWaiting' | 'init'>;
  places: Pick<Places, 'runs'>;
  /** As many cells as may wait; 0: none ever. */
  most: number;
  /** How many the operator wants for which policies, and where their classes are remembered. */
  pins: ReadonlyMap<string, number>;
  classes: PinnedClasses;
  log: Logger;
}

/** What a run brings besides its plan. */
export interface Asked {
  parts: InputParts;
  policy: PolicyAsked;
}

/** Init waits ten minutes: there is always time for a hand-over. */
const oldestMs = 5 * 60_000;
const tendMs = 1_000;
/** A cell that hangs while it starts holds up no drain. */
const startingMs = 5_000;
const stillStarting = () => new HotcellError('cell_failed', 'A waiting cell is still starting.');
/** Links to so many files take about as long as a cold cell does. */
const lateFiles = { runc: 500, gvisor: 2_500 } as const;
const never = new AbortController().signal;

type Lender = Pick<Capacity, 'borrowFor' | 'lend' | 'hasIdleCpu' | 'free'>;

/**
 * The waiting cells of a worker. It fills behind running work: one at a time, when a processor is idle, in memory that no
 * run uses, which a run gets back as soon as it needs it.
 */
export class WaitingCells implements AsyncDisposable {
  readonly #deps: PoolDeps;
  readonly #kinds: Kinds;
  readonly #starts = new Map<string, number>();
  readonly #leaving = new Set<Promise<void>>();
  #lender: Lender | undefined;
  #timer: NodeJS.Timeout | undefined;
  #tending: Promise<void> | undefined;
  #again = false;
  #recalled = false;

  constructor(deps: PoolDeps) {
    this.#deps = deps;
    this.#kinds = new Kinds(deps.pins);
  }

  /** From here on cells may wait, until it is told to empty itself. */
  fill(lender: Lender): void {
    if (this.#deps.most === 0) return;
    lender.borrowFor({ dueBack: (bytes) => this.#giveBack(bytes), mayFit: () => this.#tendSoon() });
    this.#lender = lender;
    this.#timer ??= setInterval(() => this.#tendSoon(), tendMs).unref();
    this.#tendSoon();
  }

  /** No cell waits any more, and none is made. */
  async empty(): Promise<void> {
    this.#lender = undefined;
    clearInterval(this.#timer);
    this.#timer = undefined;
    await within(startingMs, stillStarting, async () => await this.#tending).catch((error: unknown) => {
      this.#deps.log.warn({ err: error }, 'a cell is ended as soon as it has started');
    });
    for (const kind of this.#kinds.all) this.#discard(kind, kind.held.length);
    await Promise.all(this.#leaving);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.empty();
  }

  get beats(): CellBeat[] {
    const held = this.#kinds.all.flatMap((kind) => kind.held);
    return held.map(({ cell: { id, container } }) => ({ id, container, state: 'waiting' }));
  }

  /** Since this worker began: how many runs had a cell that waited, and how many had not, by the reason. */
  get starts(): Record<string, number> {
    return Object.fromEntries(this.#starts);
  }

  /** A cell for a run: one that waited if there is one, or else a new one, with the reason. */
  async seal(plan: CellPlan, left: Left, asked: Asked): Promise<SealedCell> {
    const found = await this.#find(plan, left, asked);
    const start = typeof found === 'string' ? found : 'warm';
    this.#starts.set(start, (this.#starts.get(start) ?? 0) + 1);
    return typeof found === 'string' ? await this.#deps.cells.open(plan, left, found) : found;
  }

  async #find(plan: CellPlan, left: Left, { parts, policy }: Asked): Promise<SealedCell | WhyCold> {
    const { most, cells } = this.#deps;
    if (most === 0) return 'off';
    const files = parts.trees.reduce((sum, { tree }) => sum + tree.files, 0);
    if (files > lateFiles[plan.runtime]) return 'inputs';
    const init = await cells.init();
    const key = classKey(classOf(plan), init);
    const known = this.#kinds.get(key);
    const kind = known ?? new Kind(key, init, plan);
    const held = kind.take(plan);
    const why = known ? (kind.held.length > 0 ? 'times' : 'none') : this.#kinds.whyNew(plan);
    const over = this.#kinds.note(kind, plan, policy, performance.now());
    if (over) this.#discard(over, over.held.length);
    const found = held ? await this.#handOver(kind, held, { plan, left, parts }) : why;
    this.#tendSoon();
    return found;
  }

  async #handOver(
    kind: Kind,
    { cell, late, loan }: Held,
    { plan, left, parts }: { plan: CellPlan; left: Left; parts: InputParts },
  ): Promise<SealedCell | WhyCold> {
    // The run has room of its own.
    loan[Symbol.dispose]();
    try {
      const sealed = await cell.handOver(plan, left);
      crashPoint('cell-proven-again');
      // Nothing of a tenant before the posture was judged.
      await late.fill(parts, never);
      crashPoint('cell-handed-over');
      return sealed;
    } catch (error) {
      this.#deps.log.warn(
        { container: cell.container, err: error },
        'a waiting cell could not be used; making another',
      );
      this.#leave(cell.destroy());
      // What is wrong with one may be wrong with all of them.
      this.#discard(kind, kind.held.length);
      return 'failed';
    }
  }

  #tendSoon(): void {
    this.#again = true;
    this.#tending ??= this.#tend().finally(() => {
      this.#tending = undefined;
    });
  }

  async #tend(): Promise<void> {
    while (this.#again && this.#lender) {
      this.#again = false;
      try {
        const init = await this.#deps.cells.init();
        this.#recall(init);
        const shares = this.#shares(this.#lender);
        for (const kind of this.#kinds.all) this.#prune(kind, shares.get(kind.key) ?? 0, init);
        this.#remember();
        if (await this.#makeOne(shares)) this.#again = true;
      } catch (error) {
        this.#deps.log.warn({ err: error }, 'failed to look after the waiting cells; trying again');
        return;
      }
    }
  }

  #shares({ free }: Lender): Map<string, number> {
    const bounds = { cells: this.#deps.most, bytes: free.memoryBytes };
    return shareOut(this.#kinds.claimants(performance.now()), bounds);
  }

  /** Once, when it begins to fill: the classes of pinned policies, as the last process of this worker knew them. */
  #recall(init: Digest): void {
    if (this.#recalled) return;
    this.#recalled = true;
    for (const { policy, version: _, ...own } of this.#deps.classes.recall(this.#deps.pins.keys())) {
      const plan = waitingPlan(own, []);
      const key = classKey(classOf(plan), init);
      this.#kinds.recall(new Kind(key, init, plan), policy);
    }
  }

  #remember(): void {
    for (const [name, { plan, policies }] of this.#kinds.pinned)
      this.#deps.classes.keep({ name, digest: policies.get(name) ?? '' }, plan);
  }

  /** What is too old, too much, made with another init, or of a policy that was changed since. */
  #prune(kind: Kind, share: number, init: Digest): void {
    if (!this.#kinds.isCurrent(kind, init)) {
      this.#discard(kind, kind.held.length);
      return this.#kinds.forget(kind);
    }
    const now = performance.now();
    const old = kind.held.filter(({ since }) => now - since > oldestMs).length;
    this.#discard(kind, Math.max(kind.held.length - share, old));
  }

  /** Makes a cell of the class that lacks most; false if there is nothing to make now, or no room for it. */
  async #makeOne(shares: ReadonlyMap<string, number>): Promise<boolean> {
    const { cells, places, log } = this.#deps;
    const lender = this.#lender;
    const now = performance.now();
    const lacking = this.#kinds.all
      .map((kind) => ({ kind, lacks: (shares.get(kind.key) ?? 0) - kind.held.length }))
      .filter(({ kind, lacks }) => lacks > 0 && kind.mayMake(now))
      .toSorted((a, b) => b.lacks - a.lacks);
    const [first] = lacking;
    if (!first || !lender?.hasIdleCpu) return false;
    const { kind } = first;
    const loan = lender.lend(waitingTakes(kind.nextPlan));
    if (!loan) return false;
    let late: LateInputs | undefined;
    try {
      late = new LateInputs(places);
      const plan = waitingPlan(kind.nextPlan, [late.mount]);
      const held: Held = { cell: await cells.openWaiting(plan, late), late, loan, plan, since: performance.now() };
      crashPoint('cell-waiting');
      if (!this.#lender || this.#kinds.get(kind.key) !== kind) {
        // Meanwhile no cell may wait any more, or its class made way for another: no prune would end the cell.
        this.#end(held);
        return true;
      }
      kind.held.push(held);
      kind.made(performance.now() - now);
      void held.cell.broken.then(() => this.#drop(kind, held));
      return true;
    } catch (error) {
      log.warn({ image: kind.plan.image.ref, err: error }, 'failed to make a waiting cell; trying again later');
      kind.failed(now);
      if (isPreloadFailure(error)) kind.preloadFailed();
      loan[Symbol.dispose]();
      await late?.[Symbol.asyncDispose]();
      return true;
    }
  }

  /** It ended by itself while it waited. */
  #drop(kind: Kind, held: Held): void {
    const at = kind.held.indexOf(held);
    if (at < 0) return;
    kind.held.splice(at, 1);
    this.#end(held);
    this.#tendSoon();
  }

  /** The oldest first. */
  #discard(kind: Kind, count: number): void {
    for (const held of kind.held.splice(0, count)) this.#end(held);
  }

  #giveBack(bytes: number): void {
    let given = 0;
    const all = this.#kinds.all.flatMap((kind) => kind.held.map((held) => ({ kind, held })));
    for (const { kind, held } of all.toSorted((a, b) => a.held.since - b.held.since)) {
      if (given >= bytes) return;
      given += waitingTakes(held.plan);
      kind.held.splice(kind.held.indexOf(held), 1);
      this.#end(held);
    }
  }

  #end({ cell, loan }: Held): void {
    loan[Symbol.dispose]();
    this.#leave(cell.destroy());
  }

  #leave(going: Promise<void>): void {
    // What could not be removed is reported as stuck, and the reaper goes on.
    const gone = going.catch(() => undefined).then(() => void this.#leaving.delete(gone));
    this.#leaving.add(gone);
  }
}
