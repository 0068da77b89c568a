import { type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { differencesOf } from '@hotcell/contract/evidence/json-differences.ts';
import { lineOf, LogRow } from '@hotcell/contract/log-rows.ts';
import { ChainedStep, namedStep, type SessionRecord, StepResult } from '@hotcell/contract/session/step.ts';
import { recordKeys } from '../layout.ts';
import { readNamed } from './read-asked.ts';
import type { Look } from './verification.ts';

interface Named {
  index: number;
  step: ChainedStep;
  /** The digest of its result. */
  named: Digest;
}

/** A step's end: the chain names its result, its log and all that it displayed, and the result says what the chain says. */
export async function verifyStepResult(
  look: Look,
  { tenant, run, ...place }: SessionRecord,
  { index, step, named }: Named,
): Promise<void> {
  const key = recordKeys.stepResult(tenant, run, place, index);
  const result = await readNamed(look, StepResult, key, named, true);
  if (!result) return;
  const own = { tenant: result.tenant, run: result.run, index: result.index };
  const said = { ...own, ...namedStep(result, named, step.outputs.length) };
  for (const { path, expected, found } of differencesOf({ tenant, run, ...knownOf(step) }, said))
    look.findings.add('INCONSISTENT', `${key}: ${path}`, `${expected}, as in the chain`, found);
  const part = (name: number | 'log') => recordKeys.stepPart(tenant, run, place, index, name);
  await verifyLog(look, key, result, part('log'));
  for (const [number, output] of result.outputs.entries()) {
    if (output.text === undefined) await look.matches(part(number), output.sha256, true);
    else judgeText(look, `${key}: outputs[${number}].text`, output.text, output.sha256);
  }
}

/** Without what a newer version adds. */
const knownOf = (step: ChainedStep) =>
  Object.fromEntries(Object.entries(step).filter(([name]) => Object.hasOwn(ChainedStep.shape, name)));

async function verifyLog(look: Look, key: string, { log: { rows, sha256: digest } }: StepResult, at: string) {
  if (!rows) await look.matches(at, digest, true);
  // The rows of a newer version may have members of which nothing is known here; the digest of the result binds them too.
  else if (rows.every((row) => LogRow.safeParse(row).success))
    judgeText(look, `${key}: log.rows`, rows.map(lineOf).join(''), digest);
}

/** What stands in a result was signed with it: if it is not what it says it is, its worker signed what can't be. */
function judgeText({ findings }: Look, object: string, text: string, expected: Digest): void {
  const found = sha256(text);
  if (found !== expected) findings.add('INCONSISTENT', object, expected, found);
}
