import { groupsOf } from '@hotcell/contract/groups.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { storedResult } from '@hotcell/record/commit.ts';
import { type EndedRun, noteEnds } from './note-ends.ts';
import {
  clearRuns,
  type FinishedRun,
  markedDone,
  readDoneMarker,
  removeDoneMarkers,
} from '@hotcell/record/finished-runs.ts';

export interface ClearDeps {
  store: Buckets;
  log: Logger;
}

const atATime = 100;
const atOnce = 16;

/** One pass over every run that is finished and not cleared up yet. Answers how many there were. */
export async function clearFinished(deps: ClearDeps, signal: AbortSignal): Promise<number> {
  let count = 0;
  for await (const runs of groupsOf(doneRuns(deps), atATime)) {
    if (signal.aborted) return count;
    const finished: EndedRun[] = [];
    await inLanes(atOnce, runs, async (run) => {
      const end = await endOf(deps, run);
      if (end) finished.push({ ...run, ...end });
    });
    await noteEnds(deps.store, finished);
    await clear(deps, finished);
    count += finished.length;
  }
  return count;
}

async function* doneRuns({ store, log }: ClearDeps): AsyncGenerator<FinishedRun> {
  for await (const done of markedDone(store))
    if ('run' in done) yield done;
    else log.error({ key: done.unknown }, 'the key of a done marker names no run; it is left alone');
}

/**
 * A marker is only a hint: it counts if the result is there with, byte for byte, the digest that the marker names. For one
 * that cannot be read, the result is enough.
 */
async function endOf(
  { store, log }: ClearDeps,
  done: FinishedRun,
): Promise<Omit<EndedRun, keyof FinishedRun> | undefined> {
  try {
    const marker = await readDoneMarker(store, done);
    const result = marker && (await storedResult(store, done.tenant, done.run));
    if (result && (marker === 'unreadable' || result.digest === marker.result)) {
      const { outcome, timings, callback } = result.value;
      return { outcome, at: timings.finishedAt, callback };
    }
    log.error({ run: done.run }, 'a done marker names a result that is not there; nothing of the run is removed');
  } catch (error) {
    log.error({ run: done.run, error }, 'failed to follow a done marker; the next pass tries again');
  }
  return undefined;
}

/**
 * Removes what committed runs left in the work bucket. The done marker goes last: if the notary dies before, the next
 * pass finds it and removes the rest.
 */
async function clear({ store }: ClearDeps, finished: readonly FinishedRun[]): Promise<void> {
  if (finished.length === 0) return;
  crashPoint('notary.verified');
  await clearRuns(store, finished, atOnce);
  crashPoint('notary.cleared');
  await removeDoneMarkers(store, finished);
  crashPoint('notary.done');
}
