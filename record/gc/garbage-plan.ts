import type { Digest } from '@hotcell/contract/digest.ts';
import { timeOf } from '@hotcell/contract/names.ts';
import type { ListedVersion } from '@hotcell/outside/store/store-list.ts';
import type { Buckets } from '../buckets.ts';
import { recordKeys } from '../layout.ts';
import { manifestAt, snapshotRecord } from '../snapshot-store.ts';
import { groupedVersions, sideBySide } from './grouped-versions.ts';
import { type MarkDeps, type Marks, markUsed } from './marks.ts';

export interface DoomedVersion {
  key: string;
  versionId: string;
  size: number;
}
/** A snapshot that nothing points to. Its record goes first; the rest only if no run has put the record back by then. */
interface DoomedSnapshot {
  id: Digest;
  record: DoomedVersion[];
  manifest: DoomedVersion[];
}
export interface Plan {
  tenant: string;
  marks: Marks;
  snapshots: DoomedSnapshot[];
  locations: DoomedVersion[];
  contents: DoomedVersion[];
  /** Versions that newer ones of the same key took the place of. */
  superseded: DoomedVersion[];
  /** Results of runs that were refused long ago. */
  refusals: DoomedVersion[];
}

export interface PlanDeps extends MarkDeps {
  /** Nothing younger is removed. */
  before: Date;
  /** No refusal that is younger is removed. */
  refusedBefore: Date;
}

const file = /^([0-9a-f]{64})\.jsonl?$/;
const content = /^[0-9a-f]{2}\/([0-9a-f]{64})$/;

/**
 * Everything that nothing points to and that is older than the grace period. The whole plan is made before anything is
 * removed. It names versions, so what is put under the same key later stays. Only garbage is held in memory.
 */
export async function planFor(deps: PlanDeps, tenant: string, marks: Marks): Promise<Plan> {
  const { store, before, keep } = deps;
  const refused = await markUsed(deps, tenant, marks);
  const plan: Plan = { tenant, marks, snapshots: [], locations: [], contents: [], superseded: [], refusals: [] };
  for (const run of refused.filter((one) => timeOf(one) < deps.refusedBefore)) {
    await keep();
    const versions = await Array.fromAsync(store.listVersions(store.record, recordKeys.run(tenant, run)));
    plan.refusals.push(...doomed(versions));
  }
  const manifests = groupedVersions(store, recordKeys.snapshots(tenant), file);
  const records = groupedVersions(store, recordKeys.snapshotRecords(tenant), file);
  for await (const { name: id, left: manifest, right: record } of sideBySide(manifests, records)) {
    await keep();
    const old = allOld(manifest, before) && allOld(record, before);
    // A record without a manifest: a run put it back too late, and was told so. The rest of its snapshot is gone.
    if (old && (manifest.length === 0 || !marks.snapshots.has(id)))
      plan.snapshots.push({ id, record: doomed(record), manifest: doomed(manifest) });
    else {
      if (manifest.length > 0) await markSnapshot(store, tenant, id, marks);
      plan.superseded.push(...supersededIn(manifest, before), ...supersededIn(record, before));
    }
  }
  const rest = [
    [plan.locations, marks.locations, groupedVersions(store, `${recordKeys.snapshots(tenant)}locations/`, file)],
    [plan.contents, marks.contents, groupedVersions(store, recordKeys.casPrefix(tenant), content)],
  ] as const;
  for (const [garbage, marked, found] of rest)
    for await (const { name, versions } of found) {
      await keep();
      if (!marked.has(name) && allOld(versions, before)) garbage.push(...doomed(versions));
      else plan.superseded.push(...supersededIn(versions, before));
    }
  plan.superseded.push(...(await supersededNames(deps, tenant)));
  return plan;
}

/** A snapshot that stays keeps all it needs. If it cannot be read, what it needs is unknown, and nothing is removed. */
export async function markSnapshot(store: Buckets, tenant: string, id: Digest, marks: Marks): Promise<void> {
  const record = await snapshotRecord(store, tenant, id);
  if (record) marks.locations.add(record.locations);
  for (const entry of await manifestAt(store, tenant, id)) marks.contents.add(entry.sha256);
}

/** Every move of a name is a version, and its history is in the newest. */
async function supersededNames({ store, before, keep }: PlanDeps, tenant: string): Promise<DoomedVersion[]> {
  const superseded: DoomedVersion[] = [];
  let same: ListedVersion[] = [];
  for await (const version of store.listVersions(store.record, recordKeys.names(tenant))) {
    await keep();
    if (same[0]?.key !== version.key) same = [];
    // Only the version after it, which may still be new, is needed to judge one.
    same = [...same.slice(-1), version];
    superseded.push(...supersededIn(same, before));
  }
  return superseded;
}

/** What an old version replaced, unless that is a deletion: a deleted object can be brought back by the operator. */
function supersededIn(versions: readonly ListedVersion[], before: Date): DoomedVersion[] {
  return doomed(
    versions.filter((version, i) => {
      const next = versions[i - 1];
      return next !== undefined && !version.isLatest && !next.isDeleteMarker && allOld([next, version], before);
    }),
  );
}

function allOld(versions: readonly ListedVersion[], before: Date): boolean {
  return versions.every(({ modified }) => modified !== undefined && modified < before);
}

const doomed = (versions: readonly ListedVersion[]): DoomedVersion[] =>
  versions.map(({ key, versionId, size }) => ({ key, versionId, size }));
