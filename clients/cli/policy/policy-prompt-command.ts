import type { PolicyView } from '@hotcell/contract/api/policies.ts';
import { ImageReport } from '@hotcell/contract/image-report.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { policyPrompt } from '@hotcell/contract/policy-prompt.ts';
import { reportPath } from '@hotcell/setup/images/images-lock-file.ts';
import { textIfThere } from '@hotcell/setup/settings/config-file.ts';
import { settingsOf } from '@hotcell/setup/settings/installation.ts';
import { type Globals, printJson } from '../globals.ts';
import { reporterFor } from '../reporter.ts';
import { policyOf } from './ask-policies.ts';

export async function prompt(named: string, globals: Globals): Promise<void> {
  const { name, digest, policy } = await policyOf(named, globals);
  const report = await reportOf(policy.images[0]);
  if (!report)
    reporterFor(globals).note('The packages of the image are left out: only a local installation has their list.');
  const text = policyPrompt(policy, report);
  if (globals.json) printJson({ policy: name, digest, prompt: text });
  else process.stdout.write(`${text}\n`);
}

/** What is in an image, if it is the one that this installation built. */
async function reportOf(image: PolicyView['policy']['images'][number] | undefined): Promise<ImageReport | undefined> {
  if (!image) return undefined;
  const { home } = await settingsOf(process.env);
  const path = reportPath(home, image.name);
  const text = await textIfThere(path);
  const report = text === undefined ? undefined : parseJsonAs(ImageReport, text, path);
  return report?.digest === image.digest ? report : undefined;
}
