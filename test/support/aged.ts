import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { placesIn } from '@hotcell/setup/settings/installation.ts';
import type { Bed } from './bed.ts';

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Everything under a prefix, as if it had been put some days ago: the store says of an object's age what its file system
 * says of the file's.
 */
export async function age(bed: Bed, bucket: string, prefix: string, days = 2): Promise<void> {
  const root = join(placesIn(bed.installation.home).storeData, 'buckets', bucket, prefix);
  const then = new Date(Date.now() - days * dayMs);
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) await utimes(join(entry.parentPath, entry.name), then, then);
}
