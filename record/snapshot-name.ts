import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { recordKeys } from './layout.ts';
import { SnapshotName } from '@hotcell/contract/names.ts';
import { parseAs, parseJsonAs } from '@hotcell/contract/parse.ts';
import { SnapshotNameRecord } from './schemas.ts';
import type { z } from 'zod';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import type { Buckets } from './buckets.ts';

/** A name as it stands: where it points, and where it pointed before. */
export type NameHistory = z.infer<typeof SnapshotNameRecord>;

export async function readName(
  store: Buckets,
  tenant: string,
  name: string,
): Promise<(NameHistory & { etag: string }) | undefined> {
  parseAs(SnapshotName, name, `the name ${JSON.stringify(name)}`);
  const key = recordKeys.name(tenant, name);
  const found = await store.get(store.record, key);
  if (!found) return undefined;
  const text = Buffer.concat(await found.body.toArray()).toString('utf8');
  return { ...parseJsonAs(SnapshotNameRecord, text, `${store.record}/${key}`, 'record_damaged'), etag: found.etag };
}

/** Where the name points: the latest entry by its time, not by when it was written; of equals the one written last. */
export function pointsTo(name: NameHistory): Digest {
  const latest = name.history.toSorted((a, b) => a.at.localeCompare(b.at)).at(-1);
  if (!latest) throw new HotcellError('record_damaged', `the name ${name.name} has no history`);
  return latest.snapshot;
}

/**
 * Move a name to a snapshot. Doing it twice is doing it once, and a publication that is made up for late (its worker
 * had died) takes its place in the history by its own time: it never moves the name back.
 */
export async function publishName(
  store: Buckets,
  tenant: string,
  name: string,
  snapshot: Digest,
  by: string,
  at: Date = new Date(),
): Promise<void> {
  const entry = { snapshot, at: at.toISOString(), by };
  for (let tries = 1; ; tries++) {
    const before = await readName(store, tenant, name);
    const history = before?.history ?? [];
    if (history.some((h) => h.by === by && h.at === entry.at && h.snapshot === snapshot)) return;
    const after = [...history, entry].toSorted((a, b) => a.at.localeCompare(b.at));
    const body = JSON.stringify({ version: 1, name, history: after } satisfies NameHistory);
    try {
      await store.put(
        store.record,
        recordKeys.name(tenant, name),
        body,
        before ? { ifMatch: before.etag } : { ifAbsent: true },
      );
      return;
    } catch (error) {
      // Somebody else moved it in between: look again. So many losses in a row are no race.
      if (!(error instanceof PreconditionFailed) || tries >= 50) throw error;
    }
  }
}
