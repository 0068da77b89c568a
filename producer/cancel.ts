import { cancelledBy } from '@hotcell/contract/decide-outcome.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { CancelMark } from '@hotcell/contract/heartbeats.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Queues } from '@hotcell/outside/queue/queues.ts';
import { isClaimed } from '@hotcell/record/claim.ts';
import { commit, type CommitDeps, followCommitted, isCommitted } from '@hotcell/record/commit.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { isOpen, putCancelMark, readOpenMarker } from '@hotcell/record/run-marks.ts';
import { findSpec } from '@hotcell/record/run-spec.ts';
import { stepsInRecord } from '@hotcell/record/session-chain.ts';

export interface CancelDeps extends CommitDeps {
  live: Live;
  queues: Queues;
}

/** Who cancels which run, and why, as the result says it. */
export type CancelAsked = Pick<CancelMark, 'tenant' | 'run' | 'by' | 'reason'>;

/**
 * The mark is in the bucket before the caller is answered: whatever dies then, the next process that looks at the run
 * finds it. A run that no worker has claimed is finished at once, rather than when its ticket's turn comes.
 */
export async function cancelRun(deps: CancelDeps, asked: CancelAsked): Promise<'cancelled' | 'cancelling'> {
  const { store, log } = deps;
  const { tenant, run, by, reason } = asked;
  if (await isCommitted(store, tenant, run)) throw finishedAlready(run);
  if (!(await isOpen(store, tenant, run))) throw new HotcellError('not_found', `There is no run ${run}.`);
  const mark = await putCancelMark(store, { version: 1, run, tenant, by, reason, at: new Date().toISOString() });
  crashPoint('cancel.marked');
  await deps.live.cancel(mark).catch((error: unknown) => {
    log.warn({ run, error }, 'failed to copy a cancel into Valkey; recovery will, when Valkey is back');
  });
  if (!(await isClaimed(store, run)) && (await finishUnbegun(deps, mark))) return 'cancelled';
  // Its markers may have been removed before the mark came: marked as done again, the run is cleared up again.
  const result = await followCommitted(deps, tenant, run);
  if (!result) return 'cancelling';
  if (result.outcome !== 'cancelled') throw finishedAlready(run);
  return 'cancelled';
}

function finishedAlready(run: RunId): HotcellError {
  return new HotcellError('finished_already', `Run ${run} has finished already. GET /v1/runs/${run} shows its result.`);
}

/** A worker may claim the run at the same moment: the put-if-absent of the result decides which of them ends it. */
async function finishUnbegun(deps: CancelDeps, mark: CancelMark): Promise<boolean> {
  const { store, queues, log } = deps;
  const { tenant, run } = mark;
  const [marker, found] = await Promise.all([readOpenMarker(store, tenant, run), findSpec(store, tenant, run)]);
  // A spec that is missing or altered is for the worker to report, which takes the ticket.
  if (!marker || found?.digest !== marker.spec) return false;
  const ending = { outcome: 'cancelled', reason: cancelledBy(mark) } as const;
  const empty = emptyResult({ run, tenant, spec: found.digest }, found.spec, ending, new Date());
  const result = { ...empty, ...(await stepsInRecord(store, mark, found.spec)) };
  const done = await commit(deps, result, found);
  await queues
    .of(marker.queue)
    .remove(run)
    .catch((error: unknown) => {
      log.info({ run, error }, 'failed to remove the ticket of a cancelled run; a worker will take it and drop it');
    });
  return done;
}
