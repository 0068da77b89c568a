import { HotcellError } from '@hotcell/contract/errors.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { readResult } from '@hotcell/record/commit.ts';
import type { RecordedRun } from '@hotcell/record/recorded-runs.ts';
import { isOpen, readOpenMarker } from '@hotcell/record/run-marks.ts';
import { findSpec } from '@hotcell/record/run-spec.ts';
import type { ReadModel } from './read-model.ts';
import { type Change, rowAccepted, rowFinished } from './run-changes.ts';

const atOnce = 16;

export interface RowDeps {
  store: Buckets;
  model: ReadModel;
  log: Logger;
  signal: AbortSignal;
}

/** What the read model does not have yet of these runs; each costs a request or two. */
export async function newRows(deps: RowDeps, tenant: string, runs: readonly RecordedRun[]): Promise<Change[]> {
  if (runs.length === 0) return [];
  const known = await deps.model.known(runs.map(({ run }) => run));
  const news = runs.filter(({ run, ended }) => {
    const before = known.get(run);
    return !before || (ended && !before.ended);
  });
  const changes: Change[] = [];
  const take = async ({ run, ended }: RecordedRun) => {
    const row = await legible(deps, run, () => rowOf(deps, tenant, run, ended));
    if (row) changes.push(row);
  };
  await inLanes(atOnce, news, take, deps.signal);
  deps.signal.throwIfAborted();
  return changes;
}

/**
 * Of a run without an open marker: it is finished, or was never accepted. The marker is read again, because the run may
 * have been accepted after the markers were listed, and before the result, because it is removed after that is there.
 */
export async function endOf(deps: RowDeps, tenant: string, run: RunId): Promise<Change | undefined> {
  return await legible(deps, run, async () => {
    if (await isOpen(deps.store, tenant, run)) return undefined;
    const result = await readResult(deps.store, tenant, run);
    return result ? rowFinished(result) : { kind: 'forgotten', run };
  });
}

/**
 * The marker is removed only after the result is there, so it is read first: a run that then has neither is not
 * accepted, or not yet.
 */
async function rowOf({ store }: RowDeps, tenant: string, run: RunId, ended: boolean): Promise<Change | undefined> {
  const marker = ended ? undefined : await readOpenMarker(store, tenant, run);
  if (!marker) {
    const result = await readResult(store, tenant, run);
    const begun = !result || result.blocks.length > 0 || result.spec === null;
    return result && rowFinished(result, begun ? undefined : (await findSpec(store, tenant, run))?.spec.blocks);
  }
  const found = await findSpec(store, tenant, run);
  return found && rowAccepted(found.spec, marker.queue);
}

/** One object that cannot be read must not keep the others out of the lists. */
async function legible(
  { log }: RowDeps,
  run: RunId,
  read: () => Promise<Change | undefined>,
): Promise<Change | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof HotcellError && error.code === 'record_damaged')) throw error;
    log.error({ run, error }, 'an object of this run cannot be read, so the lists do not have it');
    return undefined;
  }
}
