import type { RunId } from '@hotcell/contract/names.ts';
import type { Buckets } from './buckets.ts';
import { attemptOf, workKeys } from './layout.ts';

/** Parts of an object whose upload never ended, or an output that still waits for its digest. */
interface Unfinished {
  key: string;
  /** The same at every look. */
  name: string;
  begun: Date | undefined;
  remove: () => Promise<void>;
}

async function unfinished(store: Buckets): Promise<Unfinished[]> {
  const found: Unfinished[] = [];
  for (const bucket of [store.record, store.work])
    for (const { key, id, begun } of await store.halfUploads(bucket))
      found.push({ key, name: `${bucket} ${key} ${id}`, begun, remove: () => store.abortUpload(bucket, key, id) });
  for await (const { key, modified } of store.list(store.work, workKeys.uploads))
    found.push({ key, name: `${store.work} ${key} `, begun: modified, remove: () => store.delete(store.work, key) });
  return found;
}

/** Those of attempts: a piece of a log, or an output. */
export async function unfinishedOfAttempts(
  store: Buckets,
): Promise<(Pick<Unfinished, 'name' | 'remove'> & { run: RunId; attempt: number })[]> {
  return (await unfinished(store)).flatMap(({ key, name, remove }) => {
    const of = attemptOf(key);
    return of ? [{ ...of, name, remove }] : [];
  });
}

/** For the collector: whatever was begun before, by anyone. */
export async function removeUnfinished(store: Buckets, before: Date): Promise<void> {
  for (const { begun, remove } of await unfinished(store)) if (begun && begun < before) await remove();
}
