import { inLanes } from '@hotcell/contract/lanes.ts';
import { RunId } from '@hotcell/contract/names.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { readResult } from '@hotcell/record/commit.ts';
import { runsOf, tenantsIn } from '@hotcell/record/recorded-runs.ts';
import { allShards, openRuns, readOpenMarker } from '@hotcell/record/run-marks.ts';
import { findSpec } from '@hotcell/record/run-spec.ts';
import type { ReadModel } from './read-model.ts';

const atOnce = 16;

interface FillDeps {
  store: Buckets;
  model: ReadModel;
  signal: AbortSignal;
}

/** Every run of the record from a day on (`2026/11/18`, or all). Runs known to be finished are not read again. */
export async function fillFromRecord(deps: FillDeps, fromDay = ''): Promise<number> {
  const { store, model, signal } = deps;
  let runs = 0;
  for await (const tenant of tenantsIn(store, 'runs/')) {
    const fill = async ({ run }: { run: RunId }) => {
      runs++;
      if (!model.knowsEnd(run)) await takeRun(deps, tenant, run);
    };
    await inLanes(atOnce, runsOf(store, tenant, fromDay), fill, signal);
  }
  return runs;
}

/**
 * The marker is removed only after the result is there, so finding neither calls for one more look at the result. A run
 * that then has neither was never accepted.
 */
async function takeRun({ store, model }: FillDeps, tenant: string, run: RunId): Promise<void> {
  const resultNow = () => readResult(store, tenant, run);
  const early = await resultNow();
  const marker = early ? undefined : await readOpenMarker(store, tenant, run);
  const result = early ?? (marker ? undefined : await resultNow());
  if (result) return model.finished(result);
  if (!marker) return model.forget(run);
  const found = await findSpec(store, tenant, run);
  if (found) model.accepted(found.spec, marker.queue);
}

/**
 * Compares the open markers with the runs that the model believes open. They differ by lost messages, runs that another
 * producer accepted, and specs that were never accepted. Both are read side by side in one order, to hold little.
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
  for await (const marker of openRuns(store, shard)) {
    if (signal.aborted) return;
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
