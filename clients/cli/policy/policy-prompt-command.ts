import { policyPrompt } from '@hotcell/contract/policy-prompt.ts';
import { type Globals, printJson } from '../globals.ts';
import { reporterFor } from '../reporter.ts';
import { policyOf } from './ask-policies.ts';
import { reportOf } from './local-report.ts';

export async function prompt(named: string, globals: Globals): Promise<void> {
  const { name, digest, policy } = await policyOf(named, globals);
  const report = await reportOf(policy.images[0]);
  if (!report)
    reporterFor(globals).note('The packages of the image are left out: only a local installation has their list.');
  const text = policyPrompt(policy, report);
  if (globals.json) printJson({ policy: name, digest, prompt: text });
  else process.stdout.write(`${text}\n`);
}
