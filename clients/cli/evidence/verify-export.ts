import type { VerifyingKey } from '@hotcell/contract/evidence/signing-key.ts';
import type { RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import { openOffline } from '@hotcell/record/verify/opened-record.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { verificationBy } from '@hotcell/record/verify/verification.ts';
import { verifyAll } from '@hotcell/record/verify/verify-all.ts';
import { VerifySummary } from '../verify-summary.ts';

/** An export as its receiver verifies it: all of it, with nothing else at hand but the roots. */
export async function verifyExport(
  path: string,
  roots: readonly VerifyingKey[],
  told: (verdict: RunVerdict) => void = () => undefined,
): Promise<VerifySummary> {
  await using opened = await openOffline(path);
  const { reader } = opened;
  const trusted = await trustedKeys(reader, roots);
  const summary = new VerifySummary(trusted, await opened.judgeFrame(trusted), opened.lacks);
  const of = verificationBy(reader, trusted);
  const tell = (verdict: RunVerdict) => {
    summary.add(verdict);
    told(verdict);
  };
  await verifyAll(of, opened.runs(), tell, async (some, at) => opened.verify(some, at));
  return summary;
}
