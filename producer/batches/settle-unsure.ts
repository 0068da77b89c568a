import { cancelledBy } from '@hotcell/contract/decide-outcome.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { commit, type CommitDeps } from '@hotcell/record/commit.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { findSpec } from '@hotcell/record/run-spec.ts';
import { type KnownBatch, roundOf, runOf } from './known-batch.ts';
import { endOf, findBegun, settleWith } from './settle-items.ts';

const endsAtOnce = 8;

/**
 * Before an end is signed: items whose acceptance got no answer. A run that was accepted all the same is open now, or
 * has ended. One that has a spec alone may be accepted even now, by a write or a leader that was held up; its result
 * comes first here, so that it never begins. What remains has nothing in the record, and was never begun.
 */
export async function settleUnsure(deps: CommitDeps, known: KnownBatch, keep: () => Promise<void>): Promise<void> {
  await findBegun(deps, known);
  const left: number[] = [];
  await inLanes(endsAtOnce, known.unsure.splice(0), async (item) => {
    await keep();
    if (!(await endHalfBegun(deps, known, item))) left.push(item);
  });
  known.unsure = left.sort((a, b) => a - b);
}

/** False if it has no spec. */
async function endHalfBegun(deps: CommitDeps, known: KnownBatch, item: number): Promise<boolean> {
  const { tenant, batch } = known.head.value;
  const run = runOf(known, item);
  const found = await findSpec(deps.store, tenant, run);
  if (!found) return false;
  const { cancelled } = roundOf(known.head.value, known.round);
  const why = cancelled ?? { by: `batch ${batch}`, reason: 'another item of the batch failed' };
  const ending = { outcome: 'cancelled', reason: cancelledBy(why) } as const;
  const result = emptyResult({ run, tenant, spec: found.digest }, found.spec, ending, new Date());
  await commit(deps, result, found);
  // The one that stands: another may have ended it before.
  const end = await endOf(deps, known, item, run);
  if (end) await settleWith(deps, known, end);
  return end !== undefined;
}
