import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Installation, placesIn } from './settings/installation.ts';

/** What a purge would remove. An external store keeps its record, so only ours is counted. */
export interface PurgeInventory {
  runs: number;
  snapshots: number;
  bytes: number;
}

/** Counts by the folders of our own store, because its services may be down. */
export async function inventoryOf({ home, own, store }: Installation): Promise<PurgeInventory> {
  const record = join(placesIn(home).storeData, 'buckets', store.record);
  const [runs, snapshots] = own.store
    ? // runs/TENANT/YYYY/MM/DD/RUN and snapshots/TENANT/records/ID.json
      await Promise.all([countAt(join(record, 'runs'), 4), countAt(join(record, 'snapshots'), 2, 'records')])
    : [0, 0];
  return { runs, snapshots, bytes: await bytesUnder(home) };
}

/** How many entries there are so many folders deep; `only` names the one folder to enter on the last level. */
async function countAt(folder: string, depth: number, only?: string): Promise<number> {
  const names = await entries(folder);
  if (depth === 0) return names.length;
  let count = 0;
  for (const { name } of names)
    if (depth > 1 || only === undefined || name === only) count += await countAt(join(folder, name), depth - 1, only);
  return count;
}

async function bytesUnder(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await entries(folder)) {
    const path = join(folder, entry.name);
    // A file may go while a service still runs.
    bytes += entry.isDirectory()
      ? await bytesUnder(path)
      : await lstat(path).then(
          ({ size }) => size,
          () => 0,
        );
  }
  return bytes;
}

async function entries(folder: string) {
  return await readdir(folder, { withFileTypes: true }).catch(() => []);
}
