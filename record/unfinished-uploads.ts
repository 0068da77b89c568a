import type { RunId } from '@hotcell/contract/names.ts';
import type { Buckets } from './buckets.ts';
import { attemptOf, workKeys } from './layout.ts';

/** Parts of an object whose upload never ended, or an output that still waits for its digest. */
interface Unfinished {
  bucket: string;
  key: string;
  /** Of parts; an output that waits has none. */
  upload: string | undefined;
  begun: Date | undefined;
}

async function unfinished(store: Buckets): Promise<Unfinished[]> {
  const found: Unfinished[] = [];
  for (const bucket of [store.record, store.work])
    for (const { key, id, begun } of await store.halfUploads(bucket)) found.push({ bucket, key, upload: id, begun });
  for await (const { key, modified } of store.list(store.work, workKeys.uploads))
    found.push({ bucket: store.work, key, upload: undefined, begun: modified });
  return found;
}

async function remove(store: Buckets, { bucket, key, upload }: Unfinished): Promise<void> {
  if (upload === undefined) await store.delete(bucket, key);
  else await store.abortUpload(bucket, key, upload);
}

/** Of one attempt: a piece of its log, or an output. */
export interface UploadOfAttempt {
  run: RunId;
  attempt: number;
  /** The same at every look. */
  name: string;
  remove: () => Promise<void>;
}

export async function unfinishedOfAttempts(store: Buckets): Promise<UploadOfAttempt[]> {
  return (await unfinished(store)).flatMap((one) => {
    const of = attemptOf(one.key);
    const name = `${one.bucket} ${one.key} ${one.upload ?? ''}`;
    return of ? [{ ...of, name, remove: () => remove(store, one) }] : [];
  });
}

/** For the collector: whatever was begun before, by anyone. */
export async function removeUnfinished(store: Buckets, before: Date): Promise<void> {
  for (const one of await unfinished(store)) if (one.begun && one.begun < before) await remove(store, one);
}
