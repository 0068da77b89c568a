import { HotcellError } from '@hotcell/contract/errors.ts';
import { readResult } from '@hotcell/record/commit.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { type KeptSnapshot, putSnapshot } from '@hotcell/record/snapshot-store.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';

/** A run's outputs lie in the tenant's contents already: they become a snapshot when a caller names them as one. */
export async function freezeOutputs(store: Buckets, tenant: string, run: RunId): Promise<KeptSnapshot> {
  const result = await readResult(store, tenant, run);
  if (!result)
    throw new HotcellError('not_found', `there is no finished run ${run}: its outputs exist when it has ended`);
  const { snapshot, files } = result.outputs;
  if (snapshot === null)
    throw new HotcellError('snapshot_refused', `the run ${run} ended ${result.outcome} and wrote no outputs`);
  const kept = await putSnapshot(store, tenant, files, { source: `${run}:outputs`, by: `run ${run}` });
  if (kept.snapshot !== snapshot)
    throw new HotcellError(
      'record_damaged',
      `the result of ${run} lists other files than its snapshot ${snapshot} holds`,
    );
  return kept;
}
