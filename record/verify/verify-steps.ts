import type { Digest } from '@hotcell/contract/digest.ts';
import { differencesOf } from '@hotcell/contract/evidence/json-differences.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import { parseKept } from '@hotcell/contract/parse.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { type ChainedStep, codeOf, SessionRecord, StepRecord } from '@hotcell/contract/session/step.ts';
import { recordKeys } from '../layout.ts';
import { readNamed } from './read-asked.ts';
import type { Look } from './verification.ts';
import { verifyChainEnd } from './verify-chain-end.ts';
import { verifyStepResult } from './verify-step-result.ts';

/** The chain of a session: each record is the one that the result names, names the one before it, and has its code's digest. */
export async function verifySteps(look: Look, result: Result): Promise<void> {
  const { steps = [] } = result;
  const session = steps.some((step) => step.result) ? await sessionOf(look, result) : undefined;
  let before = result.spec;
  for (const [index, step] of steps.entries()) {
    await verifyLink(look, result, { index, step, before });
    before = step.step;
    if (step.result === null) judgeUnended(look, result, step, index);
    else if (session) await verifyStepResult(look, session, { index, step, named: step.result });
  }
  await verifyChainEnd(look, result, before);
}

/** Which worker had the session, and so where it put the results of its steps. */
async function sessionOf(look: Look, { tenant, run, attempts }: Result): Promise<SessionRecord | undefined> {
  const key = recordKeys.session(tenant, run);
  const bytes = await look.whole(key);
  if (!bytes) return undefined;
  let session: SessionRecord;
  try {
    session = parseKept(SessionRecord, bytes.toString('utf8'), key, 'record_damaged').value;
  } catch (error) {
    look.findings.add('MODIFIED', key, 'the record of which worker had the session', messageOf(error).slice(0, 300));
    return undefined;
  }
  const { attempt, worker } = attempts.find(({ claim }) => claim === session.claim) ?? session;
  const expected = { tenant, run, attempt, worker };
  const found = { tenant: session.tenant, run: session.run, attempt: session.attempt, worker: session.worker };
  for (const one of differencesOf(expected, found))
    look.findings.add('MODIFIED', key, `${one.path} ${one.expected}, as in the result`, one.found);
  // Another tenant's place would be read else.
  return session.tenant === tenant && session.run === run ? session : undefined;
}

async function verifyLink(
  look: Look,
  { tenant, run }: Result,
  { index, step, before }: { index: number; step: ChainedStep; before: Digest | null },
): Promise<void> {
  const key = recordKeys.step(tenant, run, index);
  const link = await readNamed(look, StepRecord, key, step.step, true);
  if (!link) return;
  if (link.before !== before) look.findings.add('INCONSISTENT', key, `behind ${before}`, `behind ${link.before}`);
  if (step.index !== index) look.findings.add('INCONSISTENT', key, `step ${index}`, `step ${step.index}`);
  if (link.kind !== 'step') return look.findings.add('INCONSISTENT', key, 'a step', 'the end of the session');
  const code = codeOf(link.block);
  if (code !== link.code || code !== step.code) look.findings.add('INCONSISTENT', key, `code ${step.code}`, code);
}

/** Only what its own result says is known of a step's end. */
function judgeUnended({ findings }: Look, { tenant, run }: Result, { outcome }: ChainedStep, index: number): void {
  if (outcome === null || outcome === 'lost') return;
  const object = `${recordKeys.result(tenant, run)}: steps[${index}]`;
  findings.add('INCONSISTENT', object, `the digest of the result that says ${outcome}`, 'none');
}
