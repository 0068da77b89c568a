import type { FreezeProgress } from '@hotcell/contract/api/snapshots.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { SnapshotMode } from '@hotcell/contract/snapshot.ts';
import { type Source, sourceFor } from '@hotcell/contract/sources.ts';
import type { Contents } from '@hotcell/record/contents.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { publishName } from '@hotcell/record/snapshot-name.ts';
import { type KeptSnapshot, putSnapshot, type SnapshotFile } from '@hotcell/record/snapshot-store.ts';
import { Store } from '@hotcell/outside/store/store.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { proveRoom } from '@hotcell/record/stored-room.ts';
import { closeLease, type Lease, openLease } from '@hotcell/record/gc/freeze-lease.ts';
import { type ListedObject, listPrefix } from './listing.ts';
import { presentContents } from '@hotcell/record/present-contents.ts';
import { type ReadDeps, readObject } from './read-object.ts';
import type { TallyLimits } from './tally.ts';
import { objectKey, type Place, recall, type Remembered, remember } from '@hotcell/record/remembered-listing.ts';

const readsAtOnce = 16;
/** What was read is noted down this often: so much is read again, at most, after an interruption. */
const noteEveryMs = 5_000;

export interface FreezeOptions {
  mode: SnapshotMode;
  by: string;
  name?: string | undefined;
  /** Less than what one snapshot holds. */
  limits?: TallyLimits;
  progress?: ((progress: FreezeProgress) => void) | undefined;
}

/** A freeze under way: what was asked, and what the listing found. */
interface PrefixFreeze {
  deps: ReadDeps;
  tenant: string;
  source: Source;
  place: Place;
  options: FreezeOptions;
  lease: Lease;
  objects: readonly ListedObject[];
}
type Digests = Map<ListedObject, Digest>;

/**
 * Freeze what lies under a prefix of a bucket that the operator opened: list, read what is new by its version, keep it,
 * and write the snapshot. Whatever is interrupted goes on where it was.
 */
export async function freezePrefix(
  deps: ReadDeps,
  tenant: string,
  asked: Place,
  options: FreezeOptions,
): Promise<KeptSnapshot> {
  const { source, place } = opened(deps.contents, tenant, asked);
  const { mode, by, name } = options;
  // The operator's address and keys; a source is only ever listed and read.
  using listing = new Store(source);
  const objects = await listPrefix(listing, place, mode, options.limits);
  const lease = await openLease(deps.store, tenant);
  try {
    const freeze: PrefixFreeze = { deps, tenant, source, place, options, lease, objects };
    const digests = await readNew(freeze, await knownOf(freeze));
    const files = objects.map((object) => fileOf(object, digests, place.bucket, mode));
    const about = { mode, source: `s3://${place.bucket}/${place.prefix}`, by };
    const kept = await putSnapshot(deps.store, tenant, files, about);
    crashPoint('freeze-snapshot-put');
    await noteDown(freeze, digests);
    if (name !== undefined) await publishName(deps.store, tenant, name, kept.snapshot, by);
    return kept;
  } finally {
    await closeLease(deps.store, tenant, lease);
  }
}

/** As it was asked, or as the folder of that name, when the operator opened that. */
function opened({ sources }: Contents, tenant: string, { bucket, prefix }: Place): { source: Source; place: Place } {
  for (const tried of [prefix, `${prefix}/`]) {
    const source = sourceFor(sources, tenant, bucket, tried);
    if (source) return { source, place: { bucket, prefix: tried } };
  }
  throw new HotcellError(
    'forbidden',
    `The tenant ${tenant} may not read s3://${bucket}/${prefix}. The operator allows buckets and prefixes in the file that HOTCELL_SOURCES names.`,
  );
}

/** What need not be read: its version was read before, and its bytes are still here if they have to be. */
async function knownOf({ deps, tenant, place, options, lease, objects }: PrefixFreeze): Promise<Digests> {
  const memory = await recall(deps.store, tenant, place);
  const known: Digests = new Map();
  for (const object of objects) {
    const before = object.versionId && memory.get(objectKey(object.key, object.versionId));
    if (before && before.size === object.size) known.set(object, before.sha256);
  }
  if (options.mode === 'reference' || known.size === 0) return known;
  // Also those of a snapshot that stands: one that was lost is put again, which is what freezing again is for.
  const present = await presentContents(deps, tenant, known.values(), lease.trustsOld);
  for (const [object, digest] of known) if (!present.has(digest)) known.delete(object);
  return known;
}

async function readNew(freeze: PrefixFreeze, known: Digests): Promise<Digests> {
  const { deps, tenant, source, place, options, lease, objects } = freeze;
  const digests = new Map(known);
  const fresh = objects.filter((object) => !known.has(object));
  const progress: FreezeProgress = { files: fresh.length, bytes: sum(fresh), filesDone: 0, bytesDone: 0 };
  if (options.mode === 'copy') await proveRoom(deps.stored, tenant, progress.bytes);
  const from = { store: deps.contents.openSource(source), bucket: place.bucket };
  const keepFor = options.mode === 'copy' ? { tenant, anew: !lease.trustsOld } : undefined;
  let noted = Date.now();
  let noting: Promise<void> = Promise.resolve();
  options.progress?.({ ...progress });
  try {
    await inLanes(readsAtOnce, fresh, async (object) => {
      digests.set(object, await readObject(deps, { ...from, object }, keepFor));
      crashPoint('freeze-object-kept');
      progress.filesDone += 1;
      progress.bytesDone += object.size;
      options.progress?.({ ...progress });
      if (Date.now() - noted < noteEveryMs) return;
      noted = Date.now();
      noting = noting.then(() => noteDown(freeze, digests));
      await noting;
    });
  } catch (error) {
    // What was read counts for the next try, whatever ended this one. Where that cannot be noted either, the next try reads
    // it again: what ended this one is what has to be told.
    await Promise.allSettled([noting.then(() => noteDown(freeze, digests))]);
    throw error;
  }
  await noting;
  return digests;
}

const sum = (objects: readonly ListedObject[]) => objects.reduce((bytes, object) => bytes + object.size, 0);

async function noteDown({ deps, tenant, place, objects }: PrefixFreeze, digests: Digests): Promise<void> {
  const memory: Remembered = new Map();
  for (const object of objects) {
    const { key, size, versionId } = object;
    const digest = digests.get(object);
    if (digest && versionId) memory.set(objectKey(key, versionId), { key, versionId, size, sha256: digest });
  }
  await remember(deps.store, tenant, place, memory);
}

function fileOf(object: ListedObject, digests: Digests, bucket: string, mode: SnapshotMode): SnapshotFile {
  const { path, size, key, versionId } = object;
  const digest = digests.get(object);
  if (!digest) throw new Error(`${key} was not read`);
  const file: SnapshotFile = { path, size, sha256: digest };
  return mode === 'reference' && versionId ? { ...file, location: { bucket, key, versionId } } : file;
}
