import type { Place } from '@hotcell/record/remembered-listing.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { snapshotLimits, type SnapshotMode } from '@hotcell/contract/snapshot.ts';
import { refuseBadNames } from '@hotcell/record/snapshot-store.ts';
import type { Store } from '@hotcell/outside/store/store.ts';
import { tally, type TallyLimits } from './tally.ts';

/** An object as it stood in the listing: these bytes are frozen, or none. */
export interface ListedObject {
  key: string;
  /** Its name in the snapshot. */
  path: string;
  size: number;
  /** Undefined where the bucket keeps no versions. */
  versionId: string | undefined;
  etag: string;
}

/**
 * What lies under a prefix now, each object in one version. A prefix is a folder, with or without its slash, or exactly
 * one object.
 */
export async function listPrefix(
  store: Store,
  place: Place,
  mode: SnapshotMode,
  limits: TallyLimits = snapshotLimits,
): Promise<ListedObject[]> {
  const { bucket, prefix } = place;
  const what = `s3://${bucket}/${prefix}`;
  const counting = tally(what, limits);
  const folder = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  const objects: ListedObject[] = [];
  for await (const { key, size, versionId, etag } of latest(store, bucket, prefix)) {
    const alone = key === prefix;
    // Other folders whose names only begin alike, and the empty objects that stand for folders in some tools.
    if ((!alone && !key.startsWith(folder)) || (key.endsWith('/') && size === 0)) continue;
    counting.add(size);
    const path = alone ? key.slice(key.lastIndexOf('/') + 1) : key.slice(folder.length);
    objects.push({ key, path, size, versionId, etag });
  }
  counting.refuseNothing();
  await refuseBadNames(objects);
  const unversioned = mode === 'reference' && objects.find((object) => object.versionId === undefined);
  if (unversioned)
    throw new HotcellError(
      'snapshot_refused',
      `s3://${bucket}/${unversioned.key} has no version. Only a bucket that keeps versions can be frozen by reference: use the mode copy.`,
    );
  return objects;
}

type Latest = Omit<ListedObject, 'path'>;

/** Some stores list no versions at all where a bucket keeps none. */
async function* latest(store: Store, bucket: string, prefix: string): AsyncGenerator<Latest> {
  let seen = false;
  for await (const version of store.listVersions(bucket, prefix)) {
    seen = true;
    const { key, size, etag, versionId } = version;
    if (version.isLatest && !version.isDeleteMarker)
      yield { key, size, etag, versionId: versionId === 'null' || versionId === '' ? undefined : versionId };
  }
  if (!seen)
    for await (const { key, size, etag } of store.list(bucket, prefix)) yield { key, size, etag, versionId: undefined };
}
