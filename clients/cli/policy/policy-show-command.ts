import { routes } from '@hotcell/contract/api/routes.ts';
import { openClient } from '../client.ts';
import { columns } from '../columns.ts';
import { type Globals, printJson } from '../globals.ts';
import { reporterFor } from '../reporter.ts';
import { policyOf } from './fetch-policy.ts';
import { readable } from './policy-yaml.ts';

export async function list(globals: Globals): Promise<void> {
  const client = await openClient(globals);
  const { policies, problems } = await client.call(routes.listPolicies, {});
  if (globals.json) policies.forEach(printJson);
  else
    process.stdout.write(
      columns(
        ['POLICY', 'RUNTIME', 'IMAGES', 'LANGUAGES', 'DIGEST', 'FOR'],
        policies.map((policy) => [
          policy.name,
          policy.runtime,
          policy.images.join(' '),
          policy.languages.join(' '),
          policy.revoked ? `${policy.digest} (revoked)` : policy.digest,
          policy.description,
        ]),
      ),
    );
  const reporter = reporterFor(globals);
  for (const { file, line, column, message } of problems)
    reporter.note(`unusable: ${file}:${line}:${column}: ${message}`);
}

export async function show(named: string, globals: Globals): Promise<void> {
  const view = await policyOf(named, globals);
  if (globals.json) return printJson(view);
  const { name, digest, revoked, policy } = view;
  process.stdout.write(`# ${name} ${digest}\n`);
  if (revoked) process.stdout.write(`# revoked at ${revoked.at}: ${revoked.reason}\n`);
  process.stdout.write(await readable(policy));
}
