import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '@hotcell/contract/errors.ts';
import { recordKeys } from '../layout.ts';
import { removeUnfinished } from '../unfinished-uploads.ts';
import { isFreezing } from './freeze-lease.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { collectorWaitsMs, garbageGraceMs } from '../keep.ts';
import type { Buckets } from '../buckets.ts';
import { type DoomedVersion, markSnapshot, type Plan, planFor } from './garbage-plan.ts';
import { tenantsIn } from '../recorded-runs.ts';
import { Sweeping } from './sweep-mark.ts';

export interface TenantReport {
  tenant: string;
  snapshots: number;
  locations: number;
  contents: number;
  bytes: number;
  /** Versions that a lock or a right protects: they stay. */
  protected: number;
  /** Why nothing of this tenant was removed, if so. */
  skipped: string | null;
}

export interface CollectOptions {
  dryRun: boolean;
  /** Nothing younger is removed. */
  graceMs?: number;
  /** Waits until a run that was just taking hold of a snapshot has put its record back. */
  wait?: () => Promise<unknown>;
  tell?: (line: string) => void;
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
  const sweeping = options.dryRun ? undefined : await Sweeping.begin(store);
  try {
    const reports: TenantReport[] = [];
    const plans: Plan[] = [];
    for (const tenant of await tenantsOf(store)) {
      tell(`looking at ${tenant}`);
      const { plan, report } = await planOrSkip(store, tenant, before);
      reports.push(report);
      if (plan) plans.push(plan);
      if (plan) options.listed?.(plan);
      await sweeping?.renew();
    }
    if (sweeping) await removeUnfinished(store, before);
    const wait = options.wait ?? (() => pause(collectorWaitsMs));
    if (sweeping) await removeAll(store, sweeping, plans, reports, { tell, wait });
    return reports;
  } finally {
    await sweeping?.end();
  }
}

async function tenantsOf(store: Buckets): Promise<string[]> {
  const tenants = new Set<string>();
  for (const root of ['cas/', 'snapshots/'] as const)
    for await (const tenant of tenantsIn(store, root)) tenants.add(tenant);
  return [...tenants].toSorted();
}

async function planOrSkip(
  store: Buckets,
  tenant: string,
  before: Date,
): Promise<{ plan: Plan | undefined; report: TenantReport }> {
  const nothing = { tenant, snapshots: 0, locations: 0, contents: 0, bytes: 0, protected: 0 };
  const skip = (skipped: string) => ({ plan: undefined, report: { ...nothing, skipped } });
  if (await isFreezing(store, tenant)) return skip('a freeze is under way; the next collection will look at it');
  let plan: Plan;
  try {
    plan = await planFor(store, tenant, before);
  } catch (error) {
    return skip(`cannot tell what is still needed: ${messageOf(error)}`);
  }
  const versions = [
    ...plan.snapshots.flatMap((s) => [...s.record, ...s.manifest]),
    ...plan.locations,
    ...plan.contents,
  ];
  return {
    plan,
    report: {
      tenant,
      snapshots: plan.snapshots.length,
      locations: plan.locations.length,
      contents: plan.contents.length,
      bytes: versions.reduce((sum, { size }) => sum + size, 0),
      protected: 0,
      skipped: null,
    },
  };
}

async function removeAll(
  store: Buckets,
  sweeping: Sweeping,
  plans: readonly Plan[],
  reports: readonly TenantReport[],
  { tell, wait }: { tell: (line: string) => void; wait: () => Promise<unknown> },
): Promise<void> {
  const remove = async (plan: Plan, versions: readonly DoomedVersion[]) => {
    await sweeping.renew();
    const refused = await store.deleteVersions(store.record, versions);
    const report = reports.find(({ tenant }) => tenant === plan.tenant);
    if (report) report.protected += refused.length;
  };
  for (const plan of plans) for (const snapshot of plan.snapshots) await remove(plan, snapshot.record);
  crashPoint('gc-records-removed');
  if (plans.some((plan) => plan.snapshots.length > 0)) {
    tell(`waiting ${collectorWaitsMs / 1000} s for runs that are about to use one of these snapshots`);
    await wait();
  }
  for (const plan of plans) {
    tell(`removing what ${plan.tenant} does not need`);
    const gone = await rescue(store, plan);
    await remove(plan, gone);
    crashPoint('gc-manifests-removed');
    const { marks } = plan;
    await remove(plan, [
      ...plan.locations.filter(({ key }) => !marks.locations.has(digestIn(key))),
      ...plan.contents.filter(({ key }) => !marks.contents.has(digestIn(key))),
    ]);
    crashPoint('gc-contents-removed');
  }
}

/** Whose record came back is kept, with all its contents; the manifests of the others are what may go. */
async function rescue(store: Buckets, plan: Plan): Promise<DoomedVersion[]> {
  const gone: DoomedVersion[] = [];
  for (const { id, manifest } of plan.snapshots) {
    if (manifest.length === 0) continue;
    if (await store.head(store.record, recordKeys.snapshotRecord(plan.tenant, id)))
      await markSnapshot(store, plan.tenant, id, plan.marks);
    else gone.push(...manifest);
  }
  return gone;
}

function digestIn(key: string): `sha256:${string}` {
  return `sha256:${/([0-9a-f]{64})[^/]*$/.exec(key)?.[1] ?? ''}`;
}
