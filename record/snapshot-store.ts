import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { recordKeys } from './layout.ts';
import { objects } from './objects.ts';
import { change, readValue, type Stored } from './read-write.ts';
import { type Location, refuseNames, type SnapshotEntry, type SnapshotMode } from '@hotcell/contract/snapshot.ts';
import { withObjects } from './long-objects.ts';
import { bytesOfEntries, longWork } from './long-work.ts';
import { casLocation, type LocatedEntry } from './snapshot-locations.ts';
import type { NameProblem } from '@hotcell/contract/snapshot-names.ts';
import { SnapshotRecord } from './schemas.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { collectorWaitsMs, keep, youngEnough } from './keep.ts';
import type { Buckets } from './buckets.ts';
import type { Retention } from '@hotcell/contract/retention.ts';
import { lockFor } from './lock-for.ts';

export interface SnapshotFile extends SnapshotEntry {
  /** Where the bytes are, if not in the tenant's content-addressed store. */
  location?: Location;
}
export type KeptSnapshot = Pick<SnapshotRecord, 'snapshot' | 'locations' | 'files' | 'bytes'>;

/** One name that cannot be mounted is enough to refuse all. */
export async function refuseBadNames(files: readonly { path: string }[]): Promise<void> {
  refuseNames(await namesJudged(files));
}

/** Every path that cannot be mounted faithfully, with the reason. */
export async function namesJudged(files: readonly { path: string }[]): Promise<NameProblem[]> {
  const paths = files.map((file) => file.path);
  return await longWork(bytesOfEntries(files.length), 'judgeNames', paths);
}

/**
 * Write a snapshot whose contents are in place. The map of locations first, then the manifest, then the record: a reader
 * that sees one of them finds what it names, also when we die in between.
 */
export async function putSnapshot(
  store: Buckets,
  tenant: string,
  files: readonly SnapshotFile[],
  about: { mode?: SnapshotMode; source?: string; by?: string; at?: Date; retention?: Retention | undefined } = {},
): Promise<KeptSnapshot> {
  await refuseBadNames(files);
  const located: LocatedEntry[] = files.map(({ path, size, sha256, location }) => ({
    path,
    size,
    sha256,
    location: location ?? casLocation(store.record, tenant, sha256),
  }));
  const { manifest, locations } = await longWork(bytesOfEntries(files.length), 'snapshotTexts', located);
  const kept: KeptSnapshot = {
    snapshot: manifest.digest,
    locations: locations.digest,
    files: files.length,
    bytes: files.reduce((sum, file) => sum + file.size, 0),
  };
  const { retention } = about;
  const [held, named] = [lockFor(objects.locations, retention), lockFor(objects.manifest, retention)];
  await keep(store, store.record, recordKeys.locations(tenant, locations.digest), locations.bytes, held);
  crashPoint('snapshot-locations-put');
  await keep(store, store.record, recordKeys.manifest(tenant, manifest.digest), manifest.bytes, named);
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
  const kept = (before: Stored<SnapshotRecord> | undefined) => {
    const better = before?.value.mode === 'copy' && record.mode === 'reference';
    const asBefore = before && !before.value.removed && (better || before.value.locations === record.locations);
    if (!asBefore) return record;
    return youngEnough(before.modified) ? undefined : before.value;
  };
  await change(store, objects.snapshot, kept, tenant, record.snapshot);
}

export async function snapshotRecord(store: Buckets, tenant: string, id: Digest): Promise<SnapshotRecord | undefined> {
  const found = await readValue(store, objects.snapshot, tenant, id);
  return found?.removed ? undefined : found;
}

/**
 * Takes a snapshot out of use: no list has it and no new run gets it. What was accepted before goes on with it, and the
 * bytes stay until the collector finds that nothing needs them. Freezing the same content again brings it back.
 */
export async function removeSnapshot(store: Buckets, tenant: string, id: Digest, by: string): Promise<void> {
  const removed = { by, at: new Date().toISOString() };
  const without = (before: Stored<SnapshotRecord> | undefined) =>
    before && !before.value.removed ? { ...before.value, removed } : undefined;
  await change(store, objects.snapshot, without, tenant, id);
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
 * takes. A person's removal in between stays: the record is put over exactly the one that was read.
 */
export async function useSnapshot(store: Buckets, tenant: string, id: Digest): Promise<SnapshotRecord | undefined> {
  const begun = Date.now();
  let old: SnapshotRecord | undefined;
  const used = (before: Stored<SnapshotRecord> | undefined) => {
    // The collector removed it since we read it, and looks again before it removes more.
    if (!before) return old;
    if (before.value.removed || youngEnough(before.modified)) return undefined;
    old = before.value;
    return old;
  };
  const found = await change(store, objects.snapshot, used, tenant, id);
  if (!found || found.removed) return undefined;
  if (old) {
    if (Date.now() - begun > collectorWaitsMs / 2)
      throw new HotcellError(
        'store_unavailable',
        `The store was too slow to keep ${id} from being collected. Try again.`,
      );
    // It may have been gone before we put its record back: then the record is all there is of it.
    if (!(await store.head(store.record, recordKeys.manifest(tenant, id)))) return undefined;
  }
  return found;
}

const gone = (what: string) =>
  new HotcellError(
    'input_missing',
    `${what} is not in the store: it was collected, or its upload never finished. Freeze the source again.`,
  );

function there(bytes: Buffer | undefined, what: string): Buffer {
  if (bytes === undefined) throw gone(what);
  return bytes;
}

/** The manifest of a snapshot, checked against its id. */
export async function manifestAt(store: Buckets, tenant: string, id: Digest): Promise<SnapshotEntry[]> {
  return await withManifest(store, tenant, id, (text, bytes) => longWork(bytes, 'readManifest', text, id));
}

/** Works on the text of a manifest, which is to be checked against its id. */
export async function withManifest<T>(
  store: Buckets,
  tenant: string,
  id: Digest,
  work: (manifest: Buffer, bytes: number) => Promise<T>,
): Promise<T> {
  return await withObjects(store, [recordKeys.manifest(tenant, id)], ([text], bytes) =>
    work(there(text, `The snapshot ${id}`), bytes),
  );
}

export async function withManifests<T>(
  store: Buckets,
  tenant: string,
  [one, other]: readonly [Digest, Digest],
  work: (manifests: readonly [Buffer, Buffer], bytes: number) => Promise<T>,
): Promise<T> {
  const keys = [one, other].map((id) => recordKeys.manifest(tenant, id));
  return await withObjects(store, keys, ([first, second], bytes) =>
    work([there(first, `The snapshot ${one}`), there(second, `The snapshot ${other}`)], bytes),
  );
}

/** The same as JSON, for an answer. */
export async function entriesJson(store: Buckets, tenant: string, id: Digest): Promise<Uint8Array> {
  return await withManifest(store, tenant, id, (text, bytes) => longWork(bytes, 'entriesJson', text, id));
}

/** How one snapshot differs from another, as JSON. */
export async function diffJson(store: Buckets, tenant: string, before: Digest, after: Digest): Promise<Uint8Array> {
  return await withManifests(store, tenant, [before, after], ([old, now], bytes) =>
    longWork(bytes, 'diffJson', old, before, now, after),
  );
}

/** The manifest and the map of locations, each checked against the digest it was asked by. */
export async function locatedAt(
  store: Buckets,
  tenant: string,
  snapshot: Digest,
  locations: Digest,
): Promise<LocatedEntry[]> {
  const keys = [recordKeys.manifest(tenant, snapshot), recordKeys.locations(tenant, locations)];
  return await withObjects(store, keys, ([manifest, map], bytes) =>
    longWork(
      bytes,
      'readLocated',
      there(manifest, `The snapshot ${snapshot}`),
      snapshot,
      there(map, `The map of locations ${locations} of the snapshot ${snapshot}`),
      locations,
    ),
  );
}
