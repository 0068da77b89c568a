import { messageOf } from '@hotcell/contract/errors.ts';
import type { OtherAttempt, RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { recordKeys } from '../layout.ts';
import { findCommitted } from './committed.ts';
import { verifyAttempts } from './verify-attempts.ts';
import { verifyContents } from './verify-contents.ts';
import { verifyCourse } from './verify-course.ts';
import { verifyDecision } from './verify-decision.ts';
import { verifyPosture } from './verify-posture.ts';
import { verifyReceipt } from './verify-receipt.ts';
import { verifyRefusal } from './verify-refusal.ts';
import { type Signed, verifySignature } from './verify-signature.ts';
import { verifySteps } from './verify-steps.ts';
import { verifyStatement } from './verify-statement.ts';
import { type Asked, readAsked } from './read-asked.ts';
import type { RunAt } from './runs-in.ts';
import { trustedErasure } from './trusted-erasure.ts';
import { isStoreAway } from './store-away.ts';
import { Look, type Verification } from './verification.ts';

/**
 * Everything that the record says of a run, against the keys that a trusted root listed: what stands there, who signed
 * it, whether it can be true, and whether every byte that is named is the one that was named. Undefined for what never
 * became a run.
 */
export async function verifyRun(of: Verification, at: RunAt): Promise<RunVerdict | undefined> {
  return (await verifiedRun(of, at))?.verdict;
}

/** The same, with the result that was judged: another may stand there when it is read again. */
export async function verifiedRun(
  of: Verification,
  { tenant, run }: RunAt,
): Promise<{ verdict: RunVerdict; result: Result | undefined } | undefined> {
  const look = new Look(of);
  const found: Found = {};
  try {
    const result = await findCommitted(look, tenant, run);
    if (result === 'no run') return undefined;
    found.result = result;
    if (result) await verifyResult(look, result, found);
  } catch (error) {
    // One altered object must not end the audit of all the others. A store that is away ends it: nothing can be said.
    if (isStoreAway(error)) throw error;
    look.findings.add(
      'MODIFIED',
      recordKeys.run(tenant, run),
      'a run that can be verified',
      messageOf(error).slice(0, 300),
    );
  }
  return { verdict: verdictOf(look, { tenant, run }, found), result: found.result };
}

/** What a look at a run has got to. */
interface Found {
  result?: Result | undefined;
  signed?: Signed | undefined;
  asked?: Asked;
  attempts?: OtherAttempt[];
}

async function verifyResult(look: Look, result: Result, found: Found): Promise<void> {
  const signed = await verifySignature(look, result);
  if (!signed) return;
  found.signed = signed;
  look.erasure = await trustedErasure(look, result);
  const isGone = look.erasure && !look.keys.includes(recordKeys.spec(result.tenant, result.run));
  const asked = await readAsked(look, result, isGone ? signed.statement : undefined);
  found.asked = asked;
  verifyStatement(look, result, signed, asked);
  await verifyRefusal(look, result, signed);
  verifyDecision(look, result, asked);
  verifyCourse(look, result, asked);
  await verifyPosture(look, result, asked);
  verifyReceipt(look, result);
  await verifySteps(look, result);
  await verifyContents(look, result, asked);
  found.attempts = await verifyAttempts(look, result, signed);
}

function verdictOf(
  { findings, read, erasure, ignored }: Look,
  { tenant, run }: RunAt,
  { result, signed, asked, attempts = [] }: Found,
): RunVerdict {
  const signer = signed?.key.about;
  const retention = asked?.spec?.retention;
  return {
    run,
    tenant,
    verdict: findings.verdict,
    findings: findings.close(recordKeys.run(tenant, run)),
    read,
    ...(attempts.length > 0 ? { attempts } : {}),
    ...(ignored.length > 0 ? { ignored } : {}),
    ...(result ? { outcome: result.outcome } : {}),
    ...(result?.posture ? { isolation: result.posture.worth } : {}),
    ...(signer ? { signedBy: { role: signer.role, name: signer.name, key: signer.fingerprint } } : {}),
    ...(retention ? { retention } : {}),
    ...(erasure && result
      ? { erased: { by: erasure.by, at: erasure.at, reason: erasure.reason, spec: result.spec } }
      : {}),
  };
}
