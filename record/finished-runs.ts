import { inLanes } from '@hotcell/contract/lanes.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Buckets } from './buckets.ts';
import { markerOf, workKeys } from './layout.ts';
import { objects } from './objects.ts';
import { readMark } from './read-write.ts';
import type { DoneMarker } from './schemas.ts';

export interface FinishedRun {
  tenant: string;
  run: RunId;
}

/** What the keys under `done/` name; the key alone where it names no run. */
export async function* markedDone(store: Buckets): AsyncGenerator<FinishedRun | { unknown: string }> {
  for await (const { key } of store.list(store.work, workKeys.doneMarkers)) yield markerOf(key) ?? { unknown: key };
}

/** `unreadable` if the marker is there and cannot be read: only its key still says that the run has a result. */
export async function readDoneMarker(
  store: Buckets,
  { tenant, run }: FinishedRun,
): Promise<DoneMarker | 'unreadable' | undefined> {
  let damaged = false;
  const instead = () => {
    damaged = true;
    return undefined;
  };
  const marker = await readMark(store, objects.done, instead, tenant, run);
  return damaged ? 'unreadable' : marker;
}

/** All that finished runs left in the work bucket, but for their done markers. */
export async function clearRuns(store: Buckets, runs: readonly FinishedRun[], atOnce: number): Promise<void> {
  const left: string[] = [];
  await inLanes(atOnce, runs, async ({ tenant, run }) => {
    left.push(workKeys.open(tenant, run), workKeys.cancel(run));
    for (const prefix of [workKeys.claims(run), workKeys.logs(run)])
      for await (const { key } of store.list(store.work, prefix)) left.push(key);
  });
  await store.deleteMany(store.work, left);
}

export async function removeDoneMarkers(store: Buckets, runs: readonly FinishedRun[]): Promise<void> {
  await store.deleteMany(
    store.work,
    runs.map(({ tenant, run }) => workKeys.done(tenant, run)),
  );
}
