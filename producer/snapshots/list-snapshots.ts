import type { SnapshotView } from '@hotcell/contract/api/snapshots.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import { snapshotRecord, snapshotsOf } from '@hotcell/record/snapshot-store.ts';
import type { SnapshotRecord } from '@hotcell/record/schemas.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { namesOf } from '@hotcell/record/snapshot-name.ts';

export function snapshotViewOf(record: SnapshotRecord, names: readonly string[]): SnapshotView {
  const { version: _version, snapshot: id, removed: _removed, ...facts } = record;
  return { id, names: [...names], ...facts };
}

/** Which names point to which snapshot now. */
export async function namesBySnapshot(store: Buckets, tenant: string): Promise<Map<string, string[]>> {
  const names = new Map<string, string[]>();
  for await (const { name, snapshot } of namesOf(store, tenant))
    names.set(snapshot, [...(names.get(snapshot) ?? []), name]);
  return names;
}

const readAtOnce = 16;

/** The tenant's snapshots in the order of their ids; `after` is the id the last page ended with. */
export async function listSnapshots(
  store: Buckets,
  tenant: string,
  limit: number,
  after: string | undefined,
): Promise<{ snapshots: SnapshotView[]; next: string | undefined }> {
  const ids: Digest[] = [];
  for await (const id of snapshotsOf(store, tenant, after)) {
    ids.push(id);
    if (ids.length > limit) break;
  }
  const names = await namesBySnapshot(store, tenant);
  const page = ids.slice(0, limit);
  const snapshots: SnapshotView[] = [];
  for (let i = 0; i < page.length; i += readAtOnce) {
    const records = await Promise.all(page.slice(i, i + readAtOnce).map((id) => snapshotRecord(store, tenant, id)));
    // A snapshot that was collected since it was listed is missing.
    for (const record of records) if (record) snapshots.push(snapshotViewOf(record, names.get(record.snapshot) ?? []));
  }
  return { snapshots, next: ids.length > limit ? snapshots.at(-1)?.id : undefined };
}
