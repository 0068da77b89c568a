import {
  readKeyList,
  readKeyRequest,
  type KeyList,
  type SignedKeyList,
  signKeyList,
} from '@hotcell/contract/evidence/key-list.ts';
import type { SigningKey, VerifyingKey } from '@hotcell/contract/evidence/signing-key.ts';
import { Digest } from '@hotcell/contract/digest.ts';
import type { Buckets } from './buckets.ts';
import { recordKeys } from './layout.ts';
import { objects } from './objects.ts';
import { readStored, readValue, swap } from './read-write.ts';

export interface StoredKeyList {
  list: KeyList;
  etag: string;
}

/** The list of keys, if one of these roots signed it; undefined before the first. */
export async function storedKeyList(
  store: Buckets,
  roots: readonly VerifyingKey[],
): Promise<StoredKeyList | undefined> {
  const found = await readStored(store, objects.keyList);
  return found && { list: readKeyList(found.value, roots), etag: found.etag };
}

/** Over exactly the list that was read: two operators at once don't lose each other's entries. */
export async function putKeyList(
  store: Buckets,
  root: SigningKey,
  list: KeyList,
  before: Pick<StoredKeyList, 'etag'> | undefined,
): Promise<void> {
  await putSignedKeyList(store, signKeyList(root, list), before);
}

/** The same of a list that was signed elsewhere. */
export async function putSignedKeyList(
  store: Buckets,
  signed: SignedKeyList,
  before: Pick<StoredKeyList, 'etag'> | undefined,
): Promise<void> {
  await swap(store, objects.keyList, signed, before);
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
