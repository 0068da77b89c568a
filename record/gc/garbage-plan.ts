import type { Digest } from '@hotcell/contract/digest.ts';
import { recordKeys } from '../layout.ts';
import { manifestAt, snapshotRecord } from '../snapshot-store.ts';
import type { ListedVersion } from '@hotcell/outside/store/store-list.ts';
import type { Buckets } from '../buckets.ts';
import { type Marks, marksOf } from './marks.ts';

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
}

/** Everything of a key, the newest first. */
interface Versions {
  name: Digest;
  versions: ListedVersion[];
}

/**
 * Everything that nothing points to and that is older than the grace period. The whole plan is made before anything is
 * removed. It names versions, so what is put under the same key later stays.
 */
export async function planFor(store: Buckets, tenant: string, before: Date): Promise<Plan> {
  const marks = await marksOf(store, tenant);
  const records = await named(store, recordKeys.snapshotRecords(tenant), '.json');
  const manifests = await named(store, recordKeys.snapshots(tenant), '.jsonl');
  const byId = new Map(records.map((record) => [record.name, record.versions]));
  const snapshots: DoomedSnapshot[] = [];
  for (const { name: id, versions } of manifests) {
    const record = byId.get(id) ?? [];
    if (marks.snapshots.has(id) || !allOld(versions, before) || !allOld(record, before))
      await markSnapshot(store, tenant, id, marks);
    else snapshots.push({ id, record: doomed(record), manifest: doomed(versions) });
  }
  // Records that a run put back too late, and was told so: the rest of these snapshots is gone.
  const whole = new Set(manifests.map(({ name }) => name));
  for (const { name: id, versions } of records)
    if (!whole.has(id) && allOld(versions, before)) snapshots.push({ id, record: doomed(versions), manifest: [] });
  const locations = await named(store, `${recordKeys.snapshots(tenant)}locations/`, '.jsonl');
  const contents = await named(store, recordKeys.casPrefix(tenant), '');
  return {
    tenant,
    marks,
    snapshots,
    locations: unmarked(locations, marks.locations, before),
    contents: unmarked(contents, marks.contents, before),
  };
}

/** A snapshot that stays keeps all it needs. If it cannot be read, what it needs is unknown, and nothing is removed. */
export async function markSnapshot(store: Buckets, tenant: string, id: Digest, marks: Marks): Promise<void> {
  const record = await snapshotRecord(store, tenant, id);
  if (record) marks.locations.add(record.locations);
  for (const entry of await manifestAt(store, tenant, id)) marks.contents.add(entry.sha256);
}

function unmarked(found: readonly Versions[], marked: ReadonlySet<Digest>, before: Date): DoomedVersion[] {
  return found.flatMap(({ name, versions }) => (marked.has(name) || !allOld(versions, before) ? [] : doomed(versions)));
}

function allOld(versions: readonly ListedVersion[], before: Date): boolean {
  return versions.every(({ modified }) => modified !== undefined && modified < before);
}

const doomed = (versions: readonly ListedVersion[]): DoomedVersion[] =>
  versions.map(({ key, versionId, size }) => ({ key, versionId, size }));

/** The objects directly under a prefix (contents: in its folders) that are named by a digest, with all their versions. */
async function named(store: Buckets, prefix: string, ending: string): Promise<Versions[]> {
  const found = new Map<string, Versions>();
  for await (const version of store.listVersions(store.record, prefix)) {
    const hex = nameIn(version.key.slice(prefix.length), ending);
    if (hex === undefined) continue;
    const there = found.get(hex) ?? { name: `sha256:${hex}`, versions: [] };
    there.versions.push(version);
    found.set(hex, there);
  }
  return [...found.values()];
}

function nameIn(rest: string, ending: string): string | undefined {
  const match = ending === '' ? /^[0-9a-f]{2}\/([0-9a-f]{64})$/.exec(rest) : /^([0-9a-f]{64})(\.jsonl?)$/.exec(rest);
  return match && (ending === '' || match[2] === ending) ? match[1] : undefined;
}
