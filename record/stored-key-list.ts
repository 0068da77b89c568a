import {
  readKeyList,
  readKeyRequest,
  type KeyList,
  type RootedKeyList,
  type SignedKeyList,
  signKeyList,
} from '@hotcell/contract/evidence/key-list.ts';
import { asSignedBy, withRetiredRoot } from '@hotcell/contract/evidence/root-succession.ts';
import type { SigningKey, VerifyingKey } from '@hotcell/contract/evidence/signing-key.ts';
import { Digest } from '@hotcell/contract/digest.ts';
import type { Buckets } from './buckets.ts';
import { earlierVersions } from './earlier-versions.ts';
import { recordKeys } from './layout.ts';
import { newestKeyList } from './newest-key-list.ts';
import { objects } from './objects.ts';
import { readStored, readValue, swap } from './read-write.ts';

export interface StoredKeyList extends RootedKeyList {
  /** Of what the next list is put over; undefined if the list was deleted. */
  etag: string | undefined;
}

/**
 * The newest list of keys that one of these roots signed; undefined before the first. If an earlier one was put back or
 * the list was deleted, the next one still continues the newest, so that no revocation and no number is lost.
 */
export async function storedKeyList(
  store: Buckets,
  roots: readonly VerifyingKey[],
): Promise<StoredKeyList | undefined> {
  const newest = await newestKeyList(earlierVersions(store, recordKeys.keyList), roots);
  const found = await readStored(store, objects.keyList);
  const current = found && readKeyList(found.value, roots);
  const last = newest && newest.list.number > (current?.list.number ?? 0) ? newest : current;
  return last && { ...last, etag: found?.etag };
}

/**
 * Over exactly the list that was read: two operators at once don't lose each other's entries. A root that signs over the
 * list of another takes its place.
 */
export async function putKeyList(
  store: Buckets,
  root: SigningKey,
  list: KeyList,
  before: Pick<StoredKeyList, 'etag' | 'root'> | undefined,
): Promise<void> {
  const next = asSignedBy(root.fingerprint, withRetiredRoot(list, before?.root));
  await putSignedKeyList(store, signKeyList(root, next), before);
}

/** The same of a list that was signed elsewhere. */
export async function putSignedKeyList(
  store: Buckets,
  signed: SignedKeyList,
  before: Pick<StoredKeyList, 'etag'> | undefined,
): Promise<void> {
  await swap(store, objects.keyList, signed, before?.etag === undefined ? undefined : { etag: before.etag });
}

export type Requested = ReturnType<typeof readKeyRequest>;

/** What processes asked for. A request that is not signed by the key that it names is left out. */
export async function keyRequests(store: Buckets): Promise<Requested[]> {
  const found: Requested[] = [];
  const prefix = recordKeys.keyRequests;
  for await (const { key } of store.list(store.record, prefix)) {
    const fingerprint = Digest.safeParse(`sha256:${key.slice(prefix.length, -'.json'.length)}`);
    const signed = fingerprint.success ? await readValue(store, objects.keyRequest, fingerprint.data) : undefined;
    if (signed) found.push(readKeyRequest(signed));
  }
  return found;
}
