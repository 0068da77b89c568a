import { hexOf, sha256 } from '@hotcell/contract/digest.ts';
import type { CancelMark } from '@hotcell/contract/heartbeats.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Buckets } from './buckets.ts';
import { markerOf, workKeys } from './layout.ts';
import { objects } from './objects.ts';
import type { IdempotencyMark, OpenMarker } from './schemas.ts';
import { has, putFirst, readValue } from './read-write.ts';

/** Open and done markers lie in so many folders, each of which can be looked through alone. */
export { allShards } from './layout.ts';

/** The promise: from here on the run ends in a result, whatever dies. */
export async function putOpenMarker(store: Buckets, marker: OpenMarker): Promise<void> {
  await putFirst(store, objects.open, marker, marker.tenant, marker.run);
}

export function readOpenMarker(store: Buckets, tenant: string, run: RunId): Promise<OpenMarker | undefined> {
  return readValue(store, objects.open, tenant, run);
}

export function isOpen(store: Buckets, tenant: string, run: RunId): Promise<boolean> {
  return has(store, objects.open, tenant, run);
}

/** The open runs of a shard, in the order of their tenants and ids. A short page is parsed without holding up others. */
export async function* openRuns(store: Buckets, shard: string): AsyncGenerator<{ tenant: string; run: RunId }> {
  for await (const { key } of store.list(store.work, workKeys.openShard(shard), { pageSize: 200 })) {
    const marked = markerOf(key);
    if (marked) yield marked;
  }
}

/** The first caller who cancels is the one that the result names: answers the mark that stands. */
export function putCancelMark(store: Buckets, mark: CancelMark): Promise<CancelMark> {
  return putFirst(store, objects.cancel, mark, mark.run);
}

export function readCancelMark(store: Buckets, run: RunId): Promise<CancelMark | undefined> {
  return readValue(store, objects.cancel, run);
}

/** The marks that were put since then. */
export async function* cancelMarks(store: Buckets, sinceMs: number): AsyncGenerator<CancelMark> {
  const prefix = workKeys.cancel('');
  for await (const { key, modified } of store.list(store.work, prefix)) {
    if (modified && modified.getTime() < sinceMs) continue;
    const mark = await readCancelMark(store, key.slice(prefix.length));
    if (mark) yield mark;
  }
}

/** Answers the mark that stands: the first request with a key decides which run it names. */
export function putIdempotencyMark(store: Buckets, key: string, mark: IdempotencyMark): Promise<IdempotencyMark> {
  return putFirst(store, objects.idempotency, mark, mark.tenant, nameOf(key));
}

export function readIdempotencyMark(store: Buckets, tenant: string, key: string): Promise<IdempotencyMark | undefined> {
  return readValue(store, objects.idempotency, tenant, nameOf(key));
}

/** The client chose the key's letters: hashed, it is a name that every store takes. */
const nameOf = (key: string) => hexOf(sha256(key));
