import { HotcellError } from '@hotcell/contract/errors.ts';
import { showIssue } from '@hotcell/contract/parse.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import { openClient } from '../client.ts';
import { type Globals, printJson } from '../globals.ts';
import { visible } from '../visible.ts';
import { loadFile } from './local-policy.ts';
import { readable } from './policy-yaml.ts';

export async function tryFile(file: string, since: string | undefined, globals: Globals): Promise<void> {
  const { policy, digest } = loadFile(file);
  const from = since === undefined ? undefined : timeOf(since);
  const { name } = policy;
  const past =
    from && (await (await openClient(globals)).call(routes.tryPolicy, { json: { name, policy, since: from } }));
  if (globals.json) return printJson({ name, digest, policy, ...(past && { past }) });
  process.stdout.write(`# ${name} ${digest}\n${await readable(policy)}`);
  if (!past) return;
  process.stdout.write(`\n# It would refuse ${past.refused.length} of ${past.looked} runs under ${name} since then\n`);
  for (const { run, reasons } of past.refused)
    for (const reason of reasons) process.stdout.write(`${run}  ${visible(showIssue(reason))}\n`);
}

function timeOf(since: string): string {
  const time = new Date(since);
  if (Number.isNaN(time.getTime()))
    throw new HotcellError(
      'invalid',
      `--since ${since} is not a time. Write it like 2026-11-01 or 2026-11-01T08:00:00Z.`,
    );
  return time.toISOString();
}
