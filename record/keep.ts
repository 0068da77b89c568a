import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import type { Buckets } from './buckets.ts';

/** How long garbage is left alone: what is younger is never collected, whoever points to it. */
export const garbageGraceMs = 24 * 60 * 60 * 1000;

/** So long the collector waits between taking a snapshot's record away and looking whether somebody put it back. */
export const collectorWaitsMs = 60_000;

/**
 * Whether content that is in the store already may be relied on by something new without being put again. The collector
 * takes only versions older than the grace period, so half of it is left for whoever relies on it to finish and be seen.
 */
export function youngEnough(modified: Date | undefined, now = Date.now()): boolean {
  return modified !== undefined && now - modified.getTime() < garbageGraceMs / 2;
}

/**
 * Put content that is named by its digest, once. If it is there already but old, nothing may point to it any more and
 * the collector may just be about to take it: then it is put again, as a new version that the collector has not listed.
 * So it is when it was changed or deleted in the store (of a deletion that is kept as a version, some say that something
 * is there): whoever is told to freeze again must find that it helps. Its name is its digest: no race can be lost by it.
 */
export async function keep(store: Buckets, bucket: string, key: string, bytes: Uint8Array | string): Promise<void> {
  let refused: unknown;
  try {
    await store.put(bucket, key, bytes, { ifAbsent: true });
    return;
  } catch (error) {
    refused = error;
  }
  const there = await store.head(bucket, key);
  // A store may say that something is there, and hang up, before it has read large bytes: then nobody hears it.
  if (!there && !(refused instanceof PreconditionFailed)) throw refused;
  const kept = youngEnough(there?.modified) ? await store.getBytes(bucket, key) : undefined;
  if (!kept?.equals(Buffer.from(bytes))) await store.put(bucket, key, bytes);
}
