import { setTimeout as pause } from 'node:timers/promises';
import { timeOf } from '@hotcell/contract/names.ts';
import { dayBefore, nextRuns, tenantsIn } from '@hotcell/record/recorded-runs.ts';
import { FollowedTenant, overlapMs, type Progress } from './followed-tenant.ts';
import { newRows, type RowDeps } from './read-rows.ts';
import type { Place } from './run-changes.ts';

/** On average, and no more: the rest of the store is left to runs and callers. */
const requestsPerSecond = 500;
const requestsOfFailure = 5;
const discoverEveryMs = 60_000;
const afterFailureMs = 2_000;
const longestRestMs = 1_000;
/** A repeated idempotency key may complete a run of so long ago: its objects come under an old id. */
const lookAgainMs = 8 * 86_400_000;
const beyondAllDays = '9999';
const fillsEvery = 4;

/**
 * Follows the record, tenant by tenant: what is new, then what was never filled, from the newest day back, then what may
 * have been missed. How far it came is written together with the rows, so a death in between loses nothing. Messages
 * only say whose turn it is.
 */
export class RecordFollower {
  readonly #deps: Omit<RowDeps, 'signal'>;
  readonly #tenants = new Map<string, FollowedTenant>();
  readonly #meeting = new Map<string, Promise<FollowedTenant>>();
  /** Some tenants of the last look for new ones could not be met. */
  #someUnmet = false;
  #woken = Promise.withResolvers<void>();
  #loaded: Promise<void> | undefined;
  #discoveredAt = 0;
  #turn = 0;
  #rebuilding: (PromiseWithResolvers<void> & { begun: boolean }) | undefined;

  constructor(deps: Omit<RowDeps, 'signal'>) {
    this.#deps = deps;
    deps.model.onUnknown((runs) => {
      for (const { tenant, run } of runs) this.#tenants.get(tenant)?.nudge(run);
      if (runs.some(({ tenant }) => !this.#tenants.has(tenant))) this.#discoveredAt = 0;
      this.#woken.resolve();
    });
  }

  async follow(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#woken.resolve(), { once: true });
    const deps = { ...this.#deps, signal };
    while (!signal.aborted)
      await this.#step(deps).catch(async (error: unknown) => {
        if (signal.aborted) return;
        deps.log.warn({ err: error }, 'the lists are behind the record; the producer tries again');
        await this.#rest(afterFailureMs);
      });
  }

  /** How far a tenant's lists are now: asked before a list is read, it says no more of it than is true. */
  async progressOf(tenant: string): Promise<Progress> {
    return (await this.#meet(tenant)).progress(Date.now());
  }

  /** Empties the lists and fills them anew, to the end even when the caller that waits for it goes away. */
  async rebuild(signal: AbortSignal): Promise<void> {
    this.#rebuilding ??= { ...Promise.withResolvers<void>(), begun: false };
    this.#woken.resolve();
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    await Promise.race([this.#rebuilding.promise, promise]);
  }

  /** The most urgent piece of work: at most one page of runs, so that no tenant waits for the whole of another. */
  async #step(deps: RowDeps): Promise<void> {
    const begun = performance.now();
    await this.#load();
    if (this.#rebuilding?.begun === false) await this.#beginAnew(this.#rebuilding);
    const now = Date.now();
    if (now - this.#discoveredAt > discoverEveryMs) await this.#discover(now);
    const all = [...this.#tenants.values()];
    const due = soonest(all, (tenant) => tenant.dueAt(all.length));
    const unfilled = all.find((tenant) => tenant.isUnfilled(now));
    const again = soonest(all, (tenant) => tenant.againAt);
    let requests = 0;
    // Messages without end must not keep the older runs from being filled in.
    const fills = unfilled !== undefined && ++this.#turn % fillsEvery === 0;
    if (due && due.at <= now && !fills)
      requests = await this.#alone(deps, due.tenant, (tenant) => this.#lookAtTail(deps, tenant, now));
    else if (unfilled) requests = await this.#alone(deps, unfilled, (tenant) => this.#fill(deps, tenant));
    else if (again && again.at <= now)
      requests = await this.#alone(deps, again.tenant, (tenant) => this.#lookAgain(deps, tenant, now));
    this.#endRebuild();
    const spentMs = performance.now() - begun;
    if (requests > 0) await pause(Math.max(0, (requests * 1000) / requestsPerSecond - spentMs));
    else await this.#rest(Math.min(longestRestMs, (due?.at ?? Number.POSITIVE_INFINITY) - now));
  }

  /** What fails for one tenant, however often, holds up the lists of no other. Returns how many requests it was worth. */
  async #alone(
    { log, signal }: RowDeps,
    tenant: FollowedTenant,
    work: (tenant: FollowedTenant) => Promise<number>,
  ): Promise<number> {
    try {
      const requests = await work(tenant);
      tenant.worked();
      return requests;
    } catch (error) {
      if (signal.aborted) throw error;
      tenant.failed(Date.now());
      log.warn({ tenant: tenant.place.tenant, error }, 'the lists of this tenant are behind the record; trying again');
      return requestsOfFailure;
    }
  }

  async #lookAtTail(deps: RowDeps, tenant: FollowedTenant, now: number): Promise<number> {
    const { place } = tenant;
    if (tenant.tailKey === undefined) tenant.beginTail(now);
    const named = [...tenant.named];
    const from = { since: new Date(place.tail - overlapMs), after: tenant.tailKey };
    const { runs, last } = await nextRuns(deps.store, place.tenant, from);
    const newest = runs.at(-1)?.run;
    // A clock that is ahead must not lead us past the runs of the others.
    const tail = last === undefined ? now : Math.min(now, newest ? timeOf(newest).getTime() : place.tail);
    const changes = await newRows(deps, place.tenant, runs);
    // Named by a message, and not among the newest: its clock is behind, or it was slow to come.
    if (last === undefined) {
      const listed = new Set(runs.map(({ run }) => run));
      const others = named.filter((run) => !listed.has(run)).map((run) => ({ run, ended: false }));
      changes.push(...(await newRows(deps, place.tenant, others)));
    }
    await this.#write(deps, tenant, { ...place, tail: Math.max(place.tail, tail) }, changes);
    tenant.tailKey = last;
    if (last !== undefined) return 1 + changes.length;
    for (const run of named) tenant.named.delete(run);
    tenant.reachedTail();
    return 1 + changes.length;
  }

  /** A page of the day that is being filled; after its last one, the day before. */
  async #fill(deps: RowDeps, tenant: FollowedTenant): Promise<number> {
    const { place } = tenant;
    const { day, after } = place;
    if (day === null) return 0;
    const { runs, last } = await nextRuns(deps.store, place.tenant, { day, after });
    const changes = await newRows(deps, place.tenant, runs);
    const next =
      last === undefined
        ? { day: (await dayBefore(deps.store, place.tenant, day)) ?? null, after: '' }
        : { day, after: last };
    await this.#write(deps, tenant, { ...place, ...next }, changes);
    return 1 + changes.length;
  }

  /** Runs whose objects came so late that the tail was past them, and of which no message came. */
  async #lookAgain(deps: RowDeps, tenant: FollowedTenant, now: number): Promise<number> {
    const { place } = tenant;
    const from = { since: new Date(now - lookAgainMs), after: tenant.againKey };
    const { runs, last } = await nextRuns(deps.store, place.tenant, from);
    const changes = await newRows(deps, place.tenant, runs);
    await deps.model.write(changes);
    tenant.againKey = last;
    if (last === undefined) tenant.reachedAgain(now);
    return 1 + changes.length;
  }

  async #write(
    { model }: RowDeps,
    tenant: FollowedTenant,
    place: Place,
    changes: Awaited<ReturnType<typeof newRows>>,
  ): Promise<void> {
    await model.write([...changes, { kind: 'place', place }]);
    tenant.place = place;
  }

  /** What was filled before this process began is not filled again. */
  async #load(): Promise<void> {
    this.#loaded ??= this.#deps.model.places().then((places) => {
      for (const place of places) this.#tenants.set(place.tenant, new FollowedTenant(place));
    });
    await this.#loaded.catch((error: unknown) => {
      this.#loaded = undefined;
      throw error;
    });
  }

  async #discover(now: number): Promise<void> {
    const { store, log } = this.#deps;
    this.#someUnmet = false;
    for await (const tenant of tenantsIn(store, 'runs/'))
      await this.#meet(tenant).catch((error: unknown) => {
        this.#someUnmet = true;
        log.warn({ tenant, error }, 'failed to read where the runs of this tenant begin; the next look tries again');
      });
    this.#discoveredAt = now;
  }

  /** A tenant that is new here: its newest runs are followed from now on, and the others are filled in. */
  async #meet(name: string): Promise<FollowedTenant> {
    await this.#load();
    const known = this.#tenants.get(name) ?? this.#meeting.get(name);
    if (known) return await known;
    const meeting = this.#begin(name).finally(() => this.#meeting.delete(name));
    this.#meeting.set(name, meeting);
    return await meeting;
  }

  async #begin(name: string): Promise<FollowedTenant> {
    const { model, store } = this.#deps;
    const tail = Date.now();
    const day = (await dayBefore(store, name, beyondAllDays)) ?? null;
    const tenant = new FollowedTenant({ tenant: name, tail, day, after: '' }, tail);
    await model.write([{ kind: 'place', place: tenant.place }]);
    this.#tenants.set(name, tenant);
    this.#woken.resolve();
    return tenant;
  }

  async #beginAnew(rebuilding: { begun: boolean }): Promise<void> {
    await Promise.allSettled(this.#meeting.values());
    await this.#deps.model.empty();
    this.#tenants.clear();
    this.#discoveredAt = 0;
    rebuilding.begun = true;
  }

  #endRebuild(): void {
    if (!this.#rebuilding?.begun || this.#discoveredAt === 0 || this.#someUnmet) return;
    if ([...this.#tenants.values()].some(({ place }) => place.day !== null)) return;
    this.#rebuilding.resolve();
    this.#rebuilding = undefined;
  }

  async #rest(ms: number): Promise<void> {
    await Promise.race([pause(Math.max(0, ms), undefined, { ref: false }), this.#woken.promise]);
    this.#woken = Promise.withResolvers();
  }
}

function soonest(
  tenants: readonly FollowedTenant[],
  at: (tenant: FollowedTenant) => number,
): { tenant: FollowedTenant; at: number } | undefined {
  let best: { tenant: FollowedTenant; at: number } | undefined;
  for (const tenant of tenants) {
    const when = at(tenant);
    if (!best || when < best.at) best = { tenant, at: when };
  }
  return best;
}
