import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { dayMs } from '@hotcell/contract/day-length.ts';
import { placesIn } from '@hotcell/setup/settings/installation.ts';
import type { Bed } from './bed.ts';

/**
 * Makes everything under a prefix days old: the store reports the age of an object's file.
 */
export async function age(bed: Bed, bucket: string, prefix: string, days = 2): Promise<void> {
  const root = join(placesIn(bed.installation.home).storeData, 'buckets', bucket, prefix);
  const then = new Date(Date.now() - days * dayMs);
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) await utimes(join(entry.parentPath, entry.name), then, then);
}
