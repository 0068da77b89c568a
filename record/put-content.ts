import { type Digest, hexOf } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { checkedBytes } from '@hotcell/contract/checked-bytes.ts';
import { recordKeys } from './layout.ts';
import type { Contents } from './contents.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import type { StoredBytes } from '@hotcell/outside/live/stored-bytes.ts';
import type { Buckets } from './buckets.ts';
import { StoredRoom } from './stored-room.ts';

export interface ContentDeps {
  store: Buckets;
  contents: Contents;
  /** Counts what is put, where tenants may have quotas of it. */
  stored?: StoredBytes;
}

/** Up to here a content is held in memory and put in one request, its digest being part of the request's signature. */
export const smallContentBytes = 8 * 1024 * 1024;

/** Put a small content under its digest, once. `anew` puts it also when something is there, as a new version. */
export async function putSmall(
  { store, contents, stored }: ContentDeps,
  tenant: string,
  digest: Digest,
  bytes: Uint8Array,
  anew: boolean,
): Promise<void> {
  const key = recordKeys.cas(tenant, digest);
  const room = new StoredRoom(stored, tenant);
  await room.around(bytes.length, () => contents.own.put(store.record, key, bytes, hexOf(digest), { ifAbsent: !anew }));
}

/** Put a content of any size; nothing of it is seen unless its bytes are those of the digest. */
export async function putStream(
  { store, stored }: ContentDeps,
  tenant: string,
  digest: Digest,
  chunks: AsyncIterable<Uint8Array>,
  anew: boolean,
): Promise<void> {
  const room = new StoredRoom(stored, tenant);
  const key = recordKeys.cas(tenant, digest);
  try {
    await store.upload(store.record, key, verified(room.counted(chunks), digest), { ifAbsent: !anew });
    await room.keep();
  } catch (error) {
    await room.giveBack();
    // Another writer stored the same bytes meanwhile.
    if (!(error instanceof PreconditionFailed)) throw room.refusal ?? error;
  }
}

/** The bytes under a digest, which their reader has to check. */
export function openContent(store: Buckets, tenant: string, digest: Digest, signal: AbortSignal) {
  return store.get(store.record, recordKeys.cas(tenant, digest), { signal });
}

/** The same bytes, or `snapshot_refused`. */
export function verified(chunks: AsyncIterable<Uint8Array>, digest: Digest): AsyncGenerator<Uint8Array> {
  return checkedBytes(
    chunks,
    digest,
    (found) =>
      new HotcellError(
        'snapshot_refused',
        `The bytes have the digest ${found} instead of ${digest}: the file changed while it was read, or the upload was damaged. Try again.`,
      ),
  );
}
