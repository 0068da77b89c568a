import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import type { Buckets } from './buckets.ts';
import type { ObjectLock } from '@hotcell/outside/store/store-put.ts';

/** How long garbage is left alone: nothing younger is collected, even if nothing points to it. */
export const garbageGraceMs = 24 * 60 * 60 * 1000;

/** How long the result of a run that was refused is kept: for a submitter to look it up, and an auditor to count. */
export const refusalsKeptMs = 90 * 24 * 60 * 60 * 1000;

/** How long the collector waits after it removed a snapshot's record before it looks whether a run put it back. */
export const collectorWaitsMs = 60_000;

/**
 * Whether content that is in the store already may be relied on by something new without being put again. The collector
 * takes only versions older than the grace period, so the reader that relies on it has half of that period to finish and be seen.
 */
export function youngEnough(modified: Date | undefined, now = Date.now()): boolean {
  return modified !== undefined && now - modified.getTime() < garbageGraceMs / 2;
}

/**
 * Put content that is named by its digest, once. If it is there already but old, nothing may point to it any more and
 * the collector may just be about to take it: then it is put again, as a new version that the collector has not listed.
 * So it is when it was changed or deleted in the store (of a deletion that is kept as a version, some say that something
 * is there): a caller who is told to freeze again must find that it helps. Its name is its digest, so writers cannot differ.
 */
export async function keep(
  store: Buckets,
  bucket: string,
  key: string,
  bytes: Uint8Array | string,
  lock?: ObjectLock,
): Promise<void> {
  let refused: unknown;
  try {
    await store.put(bucket, key, bytes, { ifAbsent: true, lock });
    return;
  } catch (error) {
    refused = error;
  }
  const there = await store.head(bucket, key);
  // A store may answer that something is there and hang up before it has read a large body: the answer is lost.
  if (!there && !(refused instanceof PreconditionFailed)) throw refused;
  const kept = youngEnough(there?.modified) ? await store.getBytes(bucket, key) : undefined;
  const isWhole = kept?.equals(Buffer.from(bytes)) ?? false;
  if (!isWhole || (lock && !(await store.extendLock(bucket, key, lock)))) await store.put(bucket, key, bytes, { lock });
}
