import { z } from 'zod';

/** What stands before the sign in folders like `date=2026-11-01`. */
export const PartitionKey = z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, 'must be 1 to 64 of A-Z, a-z, 0-9, ., _ and -');

interface Partition {
  key: string;
  value: string;
  files: string[];
  [more: string]: string | string[];
}

/** Files below folders like `date=2026-11-01`, by what stands behind the key; others belong to none. In their order. */
export function byPartition(paths: readonly string[], key: string): Partition[] {
  const found = new Map<string, Partition>();
  for (const path of paths) {
    const folder = path
      .split('/')
      .slice(0, -1)
      .find((part) => part.startsWith(`${key}=`));
    if (folder === undefined) continue;
    const value = folder.slice(key.length + 1);
    const partition = found.get(value) ?? { key, value, files: [] };
    partition.files.push(path);
    found.set(value, partition);
  }
  return [...found.values()];
}
