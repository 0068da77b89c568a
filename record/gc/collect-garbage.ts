import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '@hotcell/contract/errors.ts';
import type { Eraser } from '@hotcell/contract/evidence/root-succession.ts';
import { recordKeys } from '../layout.ts';
import { removeUnfinished } from '../unfinished-uploads.ts';
import { isFreezing } from './freeze-lease.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { collectorWaitsMs, garbageGraceMs, refusalsKeptMs } from '../keep.ts';
import type { Buckets } from '../buckets.ts';
import { DigestFilter } from './digest-filter.ts';
import { type DoomedVersion, markSnapshot, type Plan, type PlanDeps, planFor } from './garbage-plan.ts';
import { marksIn } from './marks.ts';
import { tenantsIn } from '../recorded-runs.ts';
import { Sweeping, SweepLost } from './sweep-mark.ts';

export interface TenantReport {
  tenant: string;
  snapshots: number;
  locations: number;
  contents: number;
  /** Versions that newer ones of the same key took the place of, such as those of a name that moved. */
  superseded: number;
  /** Results of runs that were refused long ago. */
  refusals: number;
  bytes: number;
  /** Versions that a lock or a right protects: they stay. */
  protected: number;
  /** Why nothing of this tenant was removed, if so. */
  skipped: string | null;
}

export interface CollectOptions {
  dryRun: boolean;
  /** Of this tenant alone. */
  tenant?: string;
  /** Outputs of runs whose erasure one of them signed are needed by these no more. */
  erasers?: readonly Eraser[];
  /** Nothing younger is removed. */
  graceMs?: number;
  /** Waits until a run that was just taking hold of a snapshot has put its record back. */
  wait?: () => Promise<unknown>;
  tell?: (line: string) => void;
  /** The clocks by which its mark is kept up. */
  clocks?: readonly (() => number)[];
  /** Handed every plan before anything is removed. */
  listed?: (plan: Plan) => void;
}

/**
 * Removes what nothing points to. It is safe beside freezes (they put a lease, and a tenant with one is left alone),
 * beside runs (what they are pinned to is marked, what they are about to be pinned to is put back in time), and after a
 * death at any step: things go in an order in which nothing that stays points to what is gone.
 */
export async function collectGarbage(store: Buckets, options: CollectOptions): Promise<TenantReport[]> {
  const tell = options.tell ?? (() => undefined);
  const before = new Date(Date.now() - (options.graceMs ?? garbageGraceMs));
  const refusedBefore = new Date(Date.now() - refusalsKeptMs);
  const sweeping = options.dryRun ? undefined : await Sweeping.begin(store, options.clocks);
  const keep = async () => await sweeping?.keep();
  const filter = new DigestFilter();
  try {
    const reports: TenantReport[] = [];
    const plans: Plan[] = [];
    for (const tenant of options.tenant === undefined ? await tenantsOf(store) : [options.tenant]) {
      tell(`looking at ${tenant}`);
      const deps = { store, erasers: options.erasers ?? [], before, refusedBefore, keep };
      const { plan, report } = await planOrSkip(deps, tenant, filter);
      reports.push(report);
      if (plan) plans.push(plan);
      if (plan) options.listed?.(plan);
      await keep();
    }
    if (sweeping) await removeUnfinished(store, before);
    const wait = options.wait ?? (() => pause(collectorWaitsMs));
    if (sweeping) await removeAll({ store, keep, tell, wait, reports }, plans);
    return reports;
  } finally {
    await sweeping?.end();
  }
}

async function tenantsOf(store: Buckets): Promise<string[]> {
  const tenants = new Set<string>();
  for (const root of ['cas/', 'snapshots/', 'runs/'] as const)
    for await (const tenant of tenantsIn(store, root)) tenants.add(tenant);
  return [...tenants].toSorted();
}

const underWay = 'a freeze is under way; the next collection will look at it';

async function planOrSkip(
  deps: PlanDeps,
  tenant: string,
  filter: DigestFilter,
): Promise<{ plan: Plan | undefined; report: TenantReport }> {
  const nothing = {
    tenant,
    snapshots: 0,
    locations: 0,
    contents: 0,
    superseded: 0,
    refusals: 0,
    bytes: 0,
    protected: 0,
  };
  const skip = (skipped: string) => ({ plan: undefined, report: { ...nothing, skipped } });
  if (await isFreezing(deps.store, tenant)) return skip(underWay);
  let plan: Plan;
  try {
    plan = await planFor(deps, tenant, marksIn(filter, tenant));
  } catch (error) {
    if (error instanceof SweepLost) throw error;
    return skip(`cannot tell what is still needed: ${messageOf(error)}`);
  }
  const { snapshots, locations, contents, superseded, refusals } = plan;
  const versions = [
    ...snapshots.flatMap((s) => [...s.record, ...s.manifest]),
    ...locations,
    ...contents,
    ...superseded,
    ...refusals,
  ];
  return {
    plan,
    report: {
      tenant,
      snapshots: snapshots.length,
      locations: locations.length,
      contents: contents.length,
      superseded: superseded.length,
      // Each has its evidence beside it.
      refusals: refusals.filter(({ key }) => key.endsWith('/result.json')).length,
      bytes: versions.reduce((sum, { size }) => sum + size, 0),
      protected: 0,
      skipped: null,
    },
  };
}

interface RemoveDeps {
  store: Buckets;
  keep: () => Promise<void>;
  tell: (line: string) => void;
  wait: () => Promise<unknown>;
  reports: readonly TenantReport[];
}

/** So many versions go in one request, and the mark is kept up between two. */
const removedAtOnce = 1000;

async function removeAll({ store, keep, tell, wait, reports }: RemoveDeps, plans: readonly Plan[]): Promise<void> {
  const reportOf = (plan: Plan) => reports.find(({ tenant }) => tenant === plan.tenant);
  const remove = async (plan: Plan, versions: readonly DoomedVersion[]) => {
    for (let from = 0; from < versions.length; from += removedAtOnce) {
      await keep();
      const refused = await store.deleteVersions(store.record, versions.slice(from, from + removedAtOnce));
      const report = reportOf(plan);
      if (report) report.protected += refused.length;
    }
  };
  // Planning may have taken long: a freeze that relies on what was there has its lease by now.
  const isFree = async (plan: Plan) => {
    if (!(await isFreezing(store, plan.tenant))) return true;
    const report = reportOf(plan);
    if (report) report.skipped = underWay;
    return false;
  };
  const free: Plan[] = [];
  for (const plan of plans) {
    if (!(await isFree(plan))) continue;
    free.push(plan);
    await remove(
      plan,
      plan.snapshots.flatMap(({ record }) => record),
    );
  }
  crashPoint('gc-records-removed');
  if (free.some((plan) => plan.snapshots.length > 0)) {
    tell(`waiting ${collectorWaitsMs / 1000} s for runs that are about to use one of these snapshots`);
    await wait();
  }
  for (const plan of free) {
    if (!(await isFree(plan))) continue;
    tell(`removing what ${plan.tenant} does not need`);
    const gone = await rescue(store, plan, keep);
    await remove(plan, gone);
    crashPoint('gc-manifests-removed');
    const { marks } = plan;
    await remove(plan, [
      ...plan.locations.filter(({ key }) => !marks.locations.has(digestIn(key))),
      ...plan.contents.filter(({ key }) => !marks.contents.has(digestIn(key))),
      ...plan.superseded,
      ...plan.refusals,
    ]);
    crashPoint('gc-contents-removed');
  }
}

/** Whose record came back is kept, with all its contents; the manifests of the others are what may go. */
async function rescue(store: Buckets, plan: Plan, keep: () => Promise<void>): Promise<DoomedVersion[]> {
  const gone: DoomedVersion[] = [];
  for (const { id, manifest } of plan.snapshots) {
    if (manifest.length === 0) continue;
    await keep();
    if (await store.head(store.record, recordKeys.snapshotRecord(plan.tenant, id)))
      await markSnapshot(store, plan.tenant, id, plan.marks);
    else gone.push(...manifest);
  }
  return gone;
}

function digestIn(key: string): `sha256:${string}` {
  return `sha256:${/([0-9a-f]{64})[^/]*$/.exec(key)?.[1] ?? ''}`;
}
