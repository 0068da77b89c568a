import type { Buckets } from './buckets.ts';
import { workKeys } from './layout.ts';
import { objects } from './objects.ts';
import { readMark } from './read-write.ts';

/** How long an idempotency key is remembered: far longer than any client repeats a request. */
const keptMs = 7 * 24 * 3600_000;
const atOnce = 1000;

export async function forgetOldKeys(store: Buckets, now: Date, signal: AbortSignal): Promise<void> {
  const old: string[] = [];
  const isOld = (at: number) => now.getTime() - at >= keptMs;
  for await (const { key, modified } of store.list(store.work, workKeys.idempotencyMarks)) {
    if (signal.aborted) return;
    if (modified && !isOld(modified.getTime())) continue;
    const [, tenant = '', name = ''] = key.split('/');
    let at = modified;
    // Of one that cannot be read, the age is known.
    const mark = await readMark(store, objects.idempotency, () => undefined, tenant, name);
    if (mark) at = new Date(mark.at);
    if (at && isOld(at.getTime())) old.push(key);
    if (old.length >= atOnce) await store.deleteMany(store.work, old.splice(0));
  }
  await store.deleteMany(store.work, old);
}
