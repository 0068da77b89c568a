import type { Result } from '@hotcell/contract/result.ts';
import type { Buckets } from './buckets.ts';
import { refuseErased } from './erasures.ts';

/** The outputs of a run, for those who want their bytes. Its result lists them as well, and keeps that list for good. */
export async function keptOutputs(
  store: Buckets,
  { tenant, run, outputs }: Pick<Result, 'tenant' | 'run' | 'outputs'>,
): Promise<Result['outputs']> {
  if (outputs.files.length > 0) await refuseErased(store, tenant, run);
  return outputs;
}
