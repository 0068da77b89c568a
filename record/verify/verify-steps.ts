import { type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { parseKept } from '@hotcell/contract/parse.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { type ChainedStep, codeOf, SessionRecord, StepRecord } from '@hotcell/contract/session/step.ts';
import { recordKeys } from '../layout.ts';
import type { Look } from './verification.ts';

/** The chain of a session: each record is the one that the result names, names the one before it, and has its code's digest. */
export async function verifySteps(look: Look, result: Result): Promise<void> {
  const { tenant, run, steps = [] } = result;
  const place = steps.some((step) => step.result) ? await placeOf(look, result) : undefined;
  let before = result.spec;
  for (const [index, step] of steps.entries()) {
    await verifyLink(look, result, { index, step, before });
    before = step.step;
    if (place && step.result) await look.matches(recordKeys.stepResult(tenant, run, place, index), step.result);
  }
}

/** Where the worker that had the session put the results of its steps. */
async function placeOf(look: Look, { tenant, run }: Result) {
  const key = recordKeys.session(tenant, run);
  const bytes = await look.whole(key);
  return bytes && parseKept(SessionRecord, bytes.toString('utf8'), key, 'record_damaged').value;
}

async function verifyLink(
  look: Look,
  { tenant, run }: Result,
  { index, step, before }: { index: number; step: ChainedStep; before: Digest | null },
): Promise<void> {
  const key = recordKeys.step(tenant, run, index);
  const bytes = await look.whole(key);
  if (!bytes) return;
  const digest = sha256(bytes);
  if (digest !== step.step) return look.findings.add('MODIFIED', key, step.step, digest);
  const link = parseKept(StepRecord, bytes.toString('utf8'), key, 'record_damaged').value;
  if (link.before !== before) look.findings.add('INCONSISTENT', key, `behind ${before}`, `behind ${link.before}`);
  if (step.index !== index) look.findings.add('INCONSISTENT', key, `step ${index}`, `step ${step.index}`);
  if (link.kind !== 'step') return look.findings.add('INCONSISTENT', key, 'a step', 'the end of the session');
  const code = codeOf(link.block);
  if (code !== link.code || code !== step.code) look.findings.add('INCONSISTENT', key, `code ${step.code}`, code);
}
