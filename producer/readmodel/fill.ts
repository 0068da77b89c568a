import { allShards, markerOf, recordKeys, workKeys } from '@hotcell/record/layout.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { RunId } from '@hotcell/contract/names.ts';
import { OpenMarker } from '@hotcell/record/schemas.ts';
import { Result } from '@hotcell/contract/result.ts';
import { Spec } from '@hotcell/contract/spec.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import type { ReadModel } from './read-model.ts';

const atOnce = 16;
/** A page of a list is parsed in one go, and nobody is answered meanwhile. */
const listedAtOnce = 200;

interface FillDeps {
  store: Buckets;
  model: ReadModel;
  signal: AbortSignal;
}

/** Every run of the record from a day on (`2026/11/18`, or all). What is known to be finished is not read again. */
export async function fillFromRecord(deps: FillDeps, fromDay = ''): Promise<number> {
  const { store, model, signal } = deps;
  let runs = 0;
  for await (const folder of store.listFolders(store.record, 'runs/')) {
    const tenant = folder.slice('runs/'.length, -1);
    const fill = async (run: RunId) => {
      runs++;
      if (!model.knowsEnd(run)) await takeRun(deps, tenant, run);
    };
    await inLanes(atOnce, runsOf(store, tenant, fromDay), fill, signal);
  }
  return runs;
}

/** The keys of a run stand together: each run once, in the order of its time. */
async function* runsOf(store: Buckets, tenant: string, fromDay: string): AsyncGenerator<RunId> {
  const prefix = recordKeys.tenantRuns(tenant);
  let last = '';
  const from = fromDay ? { after: `${prefix}${fromDay}` } : {};
  for await (const { key } of store.list(store.record, prefix, { ...from, pageSize: listedAtOnce })) {
    const run = RunId.safeParse(key.slice(prefix.length).split('/')[3]);
    if (!run.success || run.data === last) continue;
    last = run.data;
    yield run.data;
  }
}

/**
 * What the buckets say of a run. The marker goes only after the result has come, so whoever finds neither looks once
 * more at the result; and what then has neither is a spec that nobody was promised anything about.
 */
async function takeRun({ store, model }: FillDeps, tenant: string, run: RunId): Promise<void> {
  const resultNow = () => store.getJson(Result, store.record, recordKeys.result(tenant, run));
  const early = await resultNow();
  const marker = early ? undefined : await store.getJson(OpenMarker, store.work, workKeys.open(tenant, run));
  const result = early ?? (marker ? undefined : await resultNow());
  if (result) return model.finished(result);
  if (!marker) return model.forget(run);
  const spec = await store.getJson(Spec, store.record, recordKeys.spec(tenant, run));
  if (spec) model.accepted(spec, marker.queue);
}

/**
 * What is open, compared with what is believed to be: a nudge that was lost, a run that another producer accepted, a
 * spec that was never accepted. Both are read side by side in one order, so that nothing is held of what they agree in.
 */
export async function compareShard(deps: FillDeps, shard: string): Promise<void> {
  const differing = differences(deps, shard);
  await inLanes(atOnce, differing, ({ tenant, run }) => takeRun(deps, tenant, run), deps.signal);
}

async function* differences(
  { store, model, signal }: FillDeps,
  shard: string,
): AsyncGenerator<{ tenant: string; run: RunId }> {
  const believed = model.unfinished(shard);
  let next = believed.next();
  const before = function* (place: string | undefined) {
    for (; !next.done && (place === undefined || next.value < place); next = believed.next()) {
      const [tenant = '', run] = next.value.split('/');
      yield { tenant, run: RunId.parse(run) };
    }
  };
  for await (const { key } of store.list(store.work, workKeys.openShard(shard), { pageSize: listedAtOnce })) {
    if (signal.aborted) return;
    const marker = markerOf(key);
    if (!marker) continue;
    const place = `${marker.tenant}/${marker.run}`;
    yield* before(place);
    if (!next.done && next.value === place) next = believed.next();
    else if (!model.has(marker.run)) yield marker;
  }
  yield* before(undefined);
}

export async function compareAll(deps: FillDeps): Promise<void> {
  for (const shard of allShards) {
    if (deps.signal.aborted) return;
    await compareShard(deps, shard);
  }
}
