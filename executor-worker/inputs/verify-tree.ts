import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type Digest, hexOf } from '@hotcell/contract/digest.ts';
import type { SnapshotEntry } from '@hotcell/contract/snapshot.ts';

/** Reads a tree's bytes again: the contents whose bytes no longer match their digest. */
export async function damagedIn(
  root: string,
  entries: readonly SnapshotEntry[],
  signal: AbortSignal | undefined,
): Promise<Digest[]> {
  const damaged: Digest[] = [];
  const seen = new Set<Digest>();
  for (const entry of entries) {
    if (seen.has(entry.sha256)) continue;
    seen.add(entry.sha256);
    signal?.throwIfAborted();
    if ((await hashOf(`${root}/${entry.path}`, signal)) !== hexOf(entry.sha256)) damaged.push(entry.sha256);
  }
  return damaged;
}

async function hashOf(path: string, signal: AbortSignal | undefined): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024, ...(signal && { signal }) }))
      hash.update(chunk);
  } catch (error) {
    // A file that the disk can't read any more is damaged, and so is one that was removed.
    if (error instanceof Error && 'code' in error && (error.code === 'EIO' || error.code === 'ENOENT'))
      return 'unreadable';
    throw error;
  }
  return hash.digest('hex');
}
