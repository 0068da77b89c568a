import { allShards, markerOf, recordKeys, workKeys } from '@hotcell/contract/layout.ts';
import { RunId } from '@hotcell/contract/names.ts';
import { Result } from '@hotcell/contract/result.ts';
import { Spec } from '@hotcell/contract/spec.ts';
import type { Store } from '@hotcell/outside/store.ts';
import type { ReadModel } from './model.ts';

const atOnce = 16;

interface FillParts {
  store: Store;
  model: ReadModel;
  signal: AbortSignal;
}

/** Every run of the record from a day on (`2026/11/18`, or all). What is known to be finished is not read again. */
export async function fillFromRecord(parts: FillParts, fromDay = ''): Promise<number> {
  const { store, model, signal } = parts;
  let runs = 0;
  for await (const folder of store.listFolders(store.record, 'runs/')) {
    const tenant = folder.slice('runs/'.length, -1);
    await inLanes(runsOf(store, tenant, fromDay), signal, async (run) => {
      runs++;
      if (!model.knowsEnd(run)) await takeRun(parts, tenant, run);
    });
  }
  return runs;
}

/** The keys of a run stand together: each run once, in the order of its time. */
async function* runsOf(store: Store, tenant: string, fromDay: string): AsyncGenerator<RunId> {
  const prefix = recordKeys.tenantRuns(tenant);
  let last = '';
  for await (const { key } of store.list(store.record, prefix, fromDay ? { after: `${prefix}${fromDay}` } : {})) {
    const run = RunId.safeParse(key.slice(prefix.length).split('/')[3]);
    if (!run.success || run.data === last) continue;
    last = run.data;
    yield run.data;
  }
}

async function takeRun({ store, model }: FillParts, tenant: string, run: RunId): Promise<void> {
  const result = await store.getJson(Result, store.record, recordKeys.result(tenant, run));
  if (result) return model.finished(result);
  const spec = await store.getJson(Spec, store.record, recordKeys.spec(tenant, run));
  if (spec) model.accepted(spec);
}

/**
 * What is open, compared with what is believed to be: a nudge that was lost, a run that another producer accepted, a
 * spec that was never accepted. One shard at a time, so that no look is long.
 */
export async function compareShard(parts: FillParts, shard: string): Promise<void> {
  const { store, model, signal } = parts;
  const believed = model.unfinished(shard);
  const open = new Set<string>();
  const unheard: { tenant: string; run: RunId }[] = [];
  for await (const { key } of store.list(store.work, workKeys.openShard(shard))) {
    const marker = markerOf(key);
    if (!marker || signal.aborted) continue;
    open.add(marker.run);
    if (!model.has(marker.run)) unheard.push(marker);
  }
  const over = believed.filter(({ run }) => !open.has(run));
  await inLanes([...unheard, ...over], signal, async ({ tenant, run }) => {
    await takeRun(parts, tenant, run);
    if (!open.has(run) && !model.knowsEnd(run)) model.forget(run);
  });
}

export async function compareAll(parts: FillParts): Promise<void> {
  for (const shard of allShards) await compareShard(parts, shard);
}

async function inLanes<T>(
  items: AsyncIterable<T> | Iterable<T>,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const under = new Set<Promise<void>>();
  for await (const item of items) {
    if (signal.aborted) break;
    const one = work(item).finally(() => under.delete(one));
    under.add(one);
    if (under.size >= atOnce) await Promise.race(under);
  }
  await Promise.all(under);
}
