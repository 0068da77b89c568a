import { HotcellError } from '@hotcell/contract/errors.ts';
import { readResult } from '@hotcell/record/commit.ts';
import { keptOutputs } from '@hotcell/record/kept-outputs.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { type KeptSnapshot, putSnapshot } from '@hotcell/record/snapshot-store.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';

/** A run's outputs lie in the tenant's contents already: they become a snapshot when a caller names them as one. */
export async function freezeOutputs(store: Buckets, tenant: string, run: RunId): Promise<KeptSnapshot> {
  const result = await readResult(store, tenant, run);
  if (!result)
    throw new HotcellError(
      'not_found',
      `Run ${run} has not finished, or does not exist. A run has outputs when it has finished.`,
    );
  const { snapshot, files } = await keptOutputs(store, result);
  if (snapshot === null)
    throw new HotcellError(
      'snapshot_refused',
      `Run ${run} (${result.outcome}) wrote no outputs, so there is nothing to freeze.`,
    );
  const kept = await putSnapshot(store, tenant, files, { source: `${run}:outputs`, by: `run ${run}` });
  if (kept.snapshot !== snapshot)
    throw new HotcellError(
      'record_damaged',
      `The result of run ${run} lists other files than its snapshot ${snapshot}.`,
    );
  return kept;
}
