import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Finding } from '@hotcell/contract/evidence/verdict.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { RecordReader } from './verify/record-reader.ts';
import type { TrustedKeys } from './verify/trusted-keys.ts';
import { verificationBy } from './verify/verification.ts';
import { verifiedRun } from './verify/verify-run.ts';

const mostShown = 3;

/**
 * A run's result, if the run is valid. Much of what a verifier compares goes with the code, so that an
 * erasure would make a forged or damaged run look right. The bytes of inputs stay: a verifier finds them damaged later too.
 */
export async function verifiedResult(
  reader: RecordReader,
  trusted: TrustedKeys,
  at: { tenant: string; run: RunId },
): Promise<Result> {
  const { list, putBackTo } = trusted;
  if (putBackTo !== undefined)
    throw new HotcellError(
      'conflict',
      `The list of signing keys was put back from number ${list.number} to ${putBackTo}, so what verifies now may not verify later. Nothing was removed. Put list ${list.number} back with ./hotcell key sign-list, and erase run ${at.run} then.`,
    );
  const said = await verifiedRun(verificationBy(reader, trusted, 'outputs'), at);
  if (said?.verdict.verdict === 'VALID' && said.result) return said.result;
  throw new HotcellError('conflict', refusalOf(at.run, said?.verdict.findings ?? []));
}

function refusalOf(run: RunId, findings: readonly Finding[]): string {
  const shown = findings
    .slice(0, mostShown)
    .map(({ verdict, object, expected, found }) => `${verdict} ${object}: expected ${expected}, found ${found}`);
  const why = shown.length > 0 ? shown.join('; ') : 'there is nothing of it';
  return `Run ${run} does not verify, and an erasure would hide that: ${why}. Nothing was removed. ./hotcell verify ${run} shows everything. Put the record right, and erase the run then. What can't be put right can be removed with the store's own account alone, and counts as missing from then on.`;
}
