import { HotcellError } from '@hotcell/contract/errors.ts';
import { type RunId, timeOf } from '@hotcell/contract/names.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { followCommitted } from '@hotcell/record/commit.ts';
import { allShards, cancelMarks, openRuns, reachMarks, readOpenMarker } from '@hotcell/record/run-marks.ts';
import { type EnqueueDeps, enqueue, queuedFrom } from './enqueue.ts';

export interface ReconcileDeps extends EnqueueDeps {
  store: Buckets;
}

/** Called between the steps of long work; throws when the work is to end. */
type Keep = () => Promise<void>;

const page = 500;
const atOnce = 16;
/** So many finished and so many delayed runs are remembered, so that each is looked at once and not on every sweep. */
const mostRemembered = 100_000;

/** Looks through the open markers and queues the runs that have neither a ticket nor a result. */
export class OpenRuns {
  readonly #deps: ReconcileDeps;
  readonly #ends: AbortSignal;
  /** The queues met so far: only a run's marker tells in which of them its ticket lies. */
  readonly #queues = new Set<string>();
  readonly #finished = new Set<RunId>();
  /** Delayed runs, and when their tickets are due: until then each is read once. */
  readonly #later = new Map<RunId, number>();

  constructor(deps: ReconcileDeps, ends: AbortSignal) {
    this.#deps = deps;
    this.#ends = ends;
  }

  /** Every open run, even the youngest, and every cancel, so that the worker that has the run hears of it. */
  async sweepAll(keep: Keep): Promise<void> {
    await this.copyCancels(0, keep);
    const failures: unknown[] = [];
    for (const shard of allShards) failures.push(...(await this.#sweep(shard, Number.POSITIVE_INFINITY, keep)));
    if (failures.length > 0) throw failures[0];
  }

  async sweep(shard: string, bornBefore: number, keep: Keep): Promise<void> {
    const [failure] = await this.#sweep(shard, bornBefore, keep);
    if (failure !== undefined) throw failure;
  }

  /** Why some of its runs could not be queued again. */
  async #sweep(shard: string, bornBefore: number, keep: Keep): Promise<unknown[]> {
    const failures: unknown[] = [];
    let found = new Map<RunId, string>();
    for await (const { tenant, run } of openRuns(this.#deps.store, shard)) {
      if (this.#ends.aborted) return failures;
      if (timeOf(run).getTime() > bornBefore || this.#finished.has(run)) continue;
      found.set(run, tenant);
      if (found.size < page) continue;
      failures.push(...(await this.#queueMissing(found, keep)));
      found = new Map();
    }
    failures.push(...(await this.#queueMissing(found, keep)));
    return failures;
  }

  async copyCancels(since: number, keep: Keep): Promise<void> {
    const { store, live } = this.#deps;
    for await (const mark of cancelMarks(store, since)) {
      if (this.#ends.aborted) return;
      await keep();
      await live.cancel(mark);
    }
  }

  async #queueMissing(found: ReadonlyMap<RunId, string>, keep: Keep): Promise<unknown[]> {
    await keep();
    let missing = [...found.keys()];
    const asked = new Set(this.#queues);
    for (const queue of asked) missing = await this.#deps.queues.of(queue).missing(missing);
    if (missing.length > 0) crashPoint('reconcile.found');
    missing = missing.filter((run) => !((this.#later.get(run) ?? 0) > Date.now()));
    // Only what has a ticket, or is to have one later, counts as open: a finished run has none, and its marker may stand for long.
    const without = new Set(missing);
    await this.#deps.live.tenants.saw(new Map([...found].filter(([run]) => !without.has(run))));
    const failures: unknown[] = [];
    for (let from = 0; from < missing.length && !this.#ends.aborted; from += atOnce) {
      await keep();
      const some = missing.slice(from, from + atOnce);
      const ends = await Promise.allSettled(some.map((run) => this.#queueAgain(found.get(run) ?? '', run, asked)));
      const failed = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
      // Runs that the store does not give up hold up no other, however many; a queue or store that is away ends the sweep.
      const away = failed.find((error) => error instanceof HotcellError && error.code === 'queue_unavailable');
      if (away !== undefined) throw away;
      if (failed.length > 0) await reachMarks(this.#deps.store);
      failures.push(...failed.slice(0, 1));
    }
    return failures;
  }

  /** What of one run cannot be read holds up no other. */
  async #queueAgain(tenant: string, run: RunId, asked: ReadonlySet<string>): Promise<void> {
    try {
      await this.#queueIfUnfinished(tenant, run, asked);
    } catch (error) {
      if (!(error instanceof HotcellError && error.code === 'record_damaged')) throw error;
      this.#deps.log.error({ run, error }, 'cannot read an open run, so it cannot be queued again');
    }
  }

  async #queueIfUnfinished(tenant: string, run: RunId, asked: ReadonlySet<string>): Promise<void> {
    const { store, queues, log } = this.#deps;
    // Read now, not when it was listed: a run that has finished meanwhile has no marker any more.
    const marker = await readOpenMarker(store, tenant, run);
    if (!marker) return;
    this.#queues.add(marker.queue);
    if (!asked.has(marker.queue) && (await queues.of(marker.queue).missing([run])).length === 0) return;
    // It may have finished, and the notary be away: then all that is missing is what follows from its result.
    if (await followCommitted(this.#deps, tenant, run)) return this.#remember(run);
    await this.#deps.live.tenants.saw(new Map([[run, tenant]]));
    if (queuedFrom(marker) > Date.now()) return this.#postpone(run, queuedFrom(marker));
    this.#later.delete(run);
    await enqueue(this.#deps, marker, { recovered: true });
    crashPoint('reconcile.queued');
    log.info({ run, queue: marker.queue }, 'queued an open run that had no ticket');
  }

  #postpone(run: RunId, until: number): void {
    if (this.#later.size >= mostRemembered) this.#later.clear();
    this.#later.set(run, until);
  }

  #remember(run: RunId): void {
    if (this.#finished.size >= mostRemembered) this.#finished.clear();
    this.#finished.add(run);
  }
}
