import type { RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { recordKeys } from '../layout.ts';
import { findCommitted } from './committed.ts';
import { verifyContents } from './verify-contents.ts';
import { verifyDecision } from './verify-decision.ts';
import { verifyPosture } from './verify-posture.ts';
import { verifyReceipt } from './verify-receipt.ts';
import { verifySignature } from './verify-signature.ts';
import { verifyStatement } from './verify-statement.ts';
import { type Asked, readAsked } from './read-asked.ts';
import { Look, type Verification } from './verification.ts';

/**
 * Everything that the record says of a run, against the keys that a trusted root listed: what stands there, who signed
 * it, whether it can be true, and whether every byte that is named is the one that was named. Undefined for what never
 * became a run.
 */
export async function verifyRun(
  of: Verification,
  { tenant, run }: { tenant: string; run: RunId },
): Promise<RunVerdict | undefined> {
  const look = new Look(of);
  const result = await findCommitted(look, tenant, run);
  if (result === 'no run') return undefined;
  const signed = result && (await verifySignature(look, result));
  let asked: Asked | undefined;
  if (result && signed) {
    asked = await readAsked(look, result);
    verifyStatement(look, result, signed, asked);
    verifyDecision(look, result, asked);
    await verifyPosture(look, result, asked);
    verifyReceipt(look, result);
    await verifyContents(look, result, asked);
  }
  return { ...verdictOf(look, { tenant, run }, result, signed?.key.about), ...lockOf(asked) };
}

function verdictOf(
  { findings, read }: Look,
  { tenant, run }: { tenant: string; run: RunId },
  result: Result | undefined,
  signer: { role: string; name: string; fingerprint: string } | undefined,
): RunVerdict {
  if (findings.more > 0)
    findings.all.push({
      verdict: findings.verdict === 'VALID' ? 'INCONSISTENT' : findings.verdict,
      object: recordKeys.run(tenant, run),
      expected: 'no more',
      found: `${findings.more} more findings`,
    });
  return {
    run,
    tenant,
    verdict: findings.verdict,
    findings: findings.all,
    read,
    ...(result ? { outcome: result.outcome } : {}),
    ...(result?.posture ? { isolation: result.posture.worth } : {}),
    ...(signer ? { signedBy: { role: signer.role, name: signer.name, key: signer.fingerprint } } : {}),
  };
}

const lockOf = (asked: Asked | undefined) => (asked?.spec?.retention ? { retention: asked.spec.retention } : {});
