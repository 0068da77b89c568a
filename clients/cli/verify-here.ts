import { HotcellError } from '@hotcell/contract/errors.ts';
import type { RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import type { RunAt } from '@hotcell/record/verify/runs-in.ts';
import { StoreReader } from '@hotcell/record/verify/store-reader.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { verificationBy } from '@hotcell/record/verify/verification.ts';
import { verifyRun } from '@hotcell/record/verify/verify-run.ts';
import { trustedRoots } from '@hotcell/setup/keys/trusted-roots.ts';
import type { Installation } from '@hotcell/setup/settings/installation.ts';

/** One run of this installation, against the roots that it trusts. */
export async function verifyHere(installation: Installation, { tenant, run }: RunAt): Promise<RunVerdict> {
  using store = new Buckets(installation.store);
  const reader = new StoreReader(store);
  const trusted = await trustedKeys(reader, await trustedRoots(installation));
  const verdict = await verifyRun(verificationBy(reader, trusted), { tenant, run });
  if (!verdict) throw new HotcellError('not_found', `There is nothing of run ${run} in ${reader.name}.`);
  return verdict;
}
