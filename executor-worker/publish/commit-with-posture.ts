import type { AttestedResult } from '@hotcell/contract/evidence/attested-result.ts';
import { commit } from '@hotcell/record/commit.ts';
import type { Stage } from '../stages.ts';
import type { Worker } from '../worker.ts';
import { knownOf } from './known-of.ts';

/** What a result names is in the record before it: here the form of its cell's posture. False: another result counts. */
export async function commitWithPosture(worker: Worker, stage: Stage, result: AttestedResult): Promise<boolean> {
  const { log, patience, postures } = worker;
  const known = knownOf(stage);
  if ('cell' in stage)
    await patience(log, `record the posture of ${result.run}`, () =>
      postures.record(result.tenant, stage.cell.formed, known.spec?.retention),
    );
  return await commit(worker, result, known);
}
