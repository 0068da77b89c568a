import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { recordKeys } from './layout.ts';
import { objects } from './objects.ts';
import { put, readValue, readStored } from './read-write.ts';
import {
  type Location,
  manifestOf,
  readManifest,
  refuseNames,
  type SnapshotEntry,
  type SnapshotMode,
} from '@hotcell/contract/snapshot.ts';
import { casLocation, type LocatedEntry, locationsOf, readLocations } from './snapshot-locations.ts';
import { nameProblems } from '@hotcell/contract/snapshot-names.ts';
import { SnapshotRecord } from './schemas.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { collectorWaitsMs, keep, youngEnough } from './keep.ts';
import type { Buckets } from './buckets.ts';

export interface SnapshotFile extends SnapshotEntry {
  /** Where the bytes are, if not in the tenant's content-addressed store. */
  location?: Location;
}
export type KeptSnapshot = Pick<SnapshotRecord, 'snapshot' | 'locations' | 'files' | 'bytes'>;

/**
 * Write a snapshot whose contents are in place. The map of locations first, then the manifest, then the record: a reader
 * that sees one of them finds what it names, also when we die in between.
 */
export async function putSnapshot(
  store: Buckets,
  tenant: string,
  files: readonly SnapshotFile[],
  about: { mode?: SnapshotMode; source?: string; by?: string; at?: Date } = {},
): Promise<KeptSnapshot> {
  refuseNames(nameProblems(files.map((file) => file.path)));
  const located: LocatedEntry[] = files.map((file) => ({
    ...file,
    location: file.location ?? casLocation(store.record, tenant, file.sha256),
  }));
  const manifest = manifestOf(files);
  const locations = locationsOf(located);
  const kept: KeptSnapshot = {
    snapshot: manifest.id,
    locations: locations.digest,
    files: files.length,
    bytes: files.reduce((sum, file) => sum + file.size, 0),
  };
  await keep(store, store.record, recordKeys.locations(tenant, locations.digest), locations.text);
  crashPoint('snapshot-locations-put');
  await keep(store, store.record, recordKeys.manifest(tenant, manifest.id), manifest.text);
  crashPoint('snapshot-manifest-put');
  await putSnapshotRecord(store, tenant, {
    version: 1,
    ...kept,
    mode: about.mode ?? 'copy',
    source: about.source ?? '',
    by: about.by ?? '',
    at: (about.at ?? new Date()).toISOString(),
  });
  return kept;
}

/**
 * Which locations a run is given that names this snapshot. Our own bytes outlive those in a foreign bucket: a
 * reference never takes the place of a copy, everything else does.
 */
async function putSnapshotRecord(store: Buckets, tenant: string, record: SnapshotRecord): Promise<void> {
  const before = await readStored(store, objects.snapshot, tenant, record.snapshot);
  const better = before?.value.mode === 'copy' && record.mode === 'reference';
  const kept = before && (better || before.value.locations === record.locations) ? before.value : record;
  if (kept === before?.value && youngEnough(before.modified)) return;
  await put(store, objects.snapshot, kept, tenant, record.snapshot);
}

export function snapshotRecord(store: Buckets, tenant: string, id: Digest): Promise<SnapshotRecord | undefined> {
  return readValue(store, objects.snapshot, tenant, id);
}

/** The ids of a tenant's snapshots in their order, from one on. */
export async function* snapshotsOf(store: Buckets, tenant: string, after?: string): AsyncGenerator<Digest> {
  const prefix = recordKeys.snapshotRecords(tenant);
  const from = after === undefined ? {} : { after: recordKeys.snapshotRecord(tenant, after) };
  for await (const { key } of store.list(store.record, prefix, from))
    yield `sha256:${key.slice(prefix.length, -'.json'.length)}`;
}

/**
 * The snapshot as something new is going to use it. A record that is old is put again, unchanged: the collector, which
 * removes what has long been unused, sees that it is used again. It looks twice, and waits longer in between than this
 * takes.
 */
export async function useSnapshot(store: Buckets, tenant: string, id: Digest): Promise<SnapshotRecord | undefined> {
  const begun = Date.now();
  const found = await readStored(store, objects.snapshot, tenant, id);
  if (!found) return undefined;
  if (!youngEnough(found.modified)) {
    await put(store, objects.snapshot, found.value, tenant, id);
    if (Date.now() - begun > collectorWaitsMs / 2)
      throw new HotcellError(
        'store_unavailable',
        `The store was too slow to keep ${id} from being collected. Try again.`,
      );
    // It may have been gone before we put its record back: then the record is all there is of it.
    if (!(await store.head(store.record, recordKeys.manifest(tenant, id)))) return undefined;
  }
  return found.value;
}

const gone = (what: string) =>
  new HotcellError(
    'input_missing',
    `${what} is not in the store: it was collected, or its upload never finished. Freeze the source again.`,
  );

async function textOf(store: Buckets, key: string, what: string): Promise<string> {
  const bytes = await store.getBytes(store.record, key);
  if (bytes === undefined) throw gone(what);
  return bytes.toString('utf8');
}

/** The manifest of a snapshot, checked against its id. */
export async function manifestAt(store: Buckets, tenant: string, id: Digest): Promise<SnapshotEntry[]> {
  return readManifest(await textOf(store, recordKeys.manifest(tenant, id), `The snapshot ${id}`), id);
}

/** The manifest and the map of locations, each checked against the digest it was asked by. */
export async function locatedAt(
  store: Buckets,
  tenant: string,
  snapshot: Digest,
  locations: Digest,
): Promise<LocatedEntry[]> {
  const what = `The map of locations ${locations} of the snapshot ${snapshot}`;
  const [entries, map] = await Promise.all([
    manifestAt(store, tenant, snapshot),
    textOf(store, recordKeys.locations(tenant, locations), what),
  ]);
  return readLocations(map, locations, entries);
}
