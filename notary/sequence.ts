import { storedResult } from '@hotcell/record/commit.ts';
import { markerOf, workKeys } from '@hotcell/record/layout.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { DoneMarker } from '@hotcell/record/schemas.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';

export interface SequenceDeps {
  store: Buckets;
  log: Logger;
}

interface Finished {
  result: Result;
  /** The done marker itself: it goes last. */
  marker: string;
}

const batch = 100;
const atOnce = 16;

/** One pass over everything that is finished and not yet sequenced; how many runs it was. */
export async function sequence(deps: SequenceDeps, signal: AbortSignal): Promise<number> {
  let count = 0;
  for await (const keys of batches(deps.store.list(deps.store.work, 'done/'))) {
    if (signal.aborted) return count;
    const finished: Finished[] = [];
    await inLanes(atOnce, keys, async (key) => void finished.push(...(await finishedRun(deps, key))));
    count += await clear(deps, finished);
  }
  return count;
}

/** A marker is only a hint. What it says is believed once the result is there, byte for byte. */
async function finishedRun({ store, log }: SequenceDeps, key: string): Promise<Finished[]> {
  const named = markerOf(key);
  if (!named) {
    log.error({ key }, 'this is no done marker of ours: it is left alone');
    return [];
  }
  try {
    const marker = await store.getJson(DoneMarker, store.work, key);
    const found = marker && (await storedResult(store, named.tenant, named.run));
    if (found?.digest !== marker?.result) {
      log.error({ key }, 'a done marker names a result that is not there; nothing of the run is removed');
      return [];
    }
    return found ? [{ result: found.value, marker: key }] : [];
  } catch (error) {
    log.error({ key, error }, 'this done marker could not be followed: it is looked at again');
    return [];
  }
}

/**
 * What a committed run left in the work bucket. The done marker goes last: whatever dies before leaves it, and the next
 * pass removes the rest. The ledger's append will stand before the first removal.
 */
async function clear({ store }: SequenceDeps, finished: readonly Finished[]): Promise<number> {
  if (finished.length === 0) return 0;
  crashPoint('notary.verified');
  const left: string[] = [];
  await inLanes(atOnce, finished, async ({ result: { tenant, run } }) => {
    left.push(...(await leftOf(store, tenant, run)));
  });
  await store.deleteMany(store.work, left);
  crashPoint('notary.cleared');
  await store.deleteMany(
    store.work,
    finished.map(({ marker }) => marker),
  );
  crashPoint('notary.done');
  return finished.length;
}

async function leftOf(store: Buckets, tenant: string, run: string): Promise<string[]> {
  const keys = [workKeys.open(tenant, run), workKeys.cancel(run)];
  for (const prefix of [workKeys.claims(run), workKeys.logs(run)])
    for await (const { key } of store.list(store.work, prefix)) keys.push(key);
  return keys;
}

async function* batches(listed: AsyncIterable<{ key: string }>): AsyncGenerator<string[]> {
  let keys: string[] = [];
  for await (const { key } of listed) {
    if (keys.push(key) < batch) continue;
    yield keys;
    keys = [];
  }
  if (keys.length > 0) yield keys;
}
