import { IdempotencyMark } from '@hotcell/record/schemas.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';

/** How long an idempotency key is remembered: far longer than any client repeats a request. */
const keptMs = 7 * 24 * 3600_000;

export async function forgetOldKeys(store: Buckets, now: Date, signal: AbortSignal): Promise<void> {
  const old: string[] = [];
  for await (const { key, modified } of store.list(store.work, 'idempotency/')) {
    if (signal.aborted) return;
    if (modified && now.getTime() - modified.getTime() < keptMs) continue;
    const mark = await store.getJson(IdempotencyMark, store.work, key);
    if (mark && now.getTime() - Date.parse(mark.at) >= keptMs) old.push(key);
    if (old.length >= 1000) await store.deleteMany(store.work, old.splice(0));
  }
  await store.deleteMany(store.work, old);
}
