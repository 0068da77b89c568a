import type { PolicyView } from '@hotcell/contract/api/policies.ts';
import { runNamed } from '../run-ref.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import { showLimit } from '@hotcell/contract/limits.ts';
import { showIssue } from '@hotcell/contract/parse.ts';
import { openClient } from '../client.ts';
import { columns, pairs, printRows } from '../columns.ts';
import { type Globals, printJson } from '../globals.ts';
import { reporterFor } from '../reporter.ts';
import { visible } from '../visible.ts';
import { readable } from './policy-yaml.ts';

export async function policyOf(named: string, globals: Globals): Promise<PolicyView> {
  return await (await openClient(globals)).call(routes.getPolicy, { params: { policy: named } });
}

export async function list(globals: Globals): Promise<void> {
  const client = await openClient(globals);
  const { policies, problems } = await client.call(routes.listPolicies, {});
  printRows(globals, policies, ['POLICY', 'RUNTIME', 'IMAGES', 'LANGUAGES', 'DIGEST', 'FOR'], (policy) => [
    policy.name,
    policy.runtime,
    policy.images.join(' '),
    policy.languages.join(' '),
    policy.revoked ? `${policy.digest} (revoked)` : policy.digest,
    policy.description,
  ]);
  const { note } = reporterFor(globals);
  for (const { file, line, column, message } of problems) note(`unusable: ${file}:${line}:${column}: ${message}`);
}

export async function show(named: string, globals: Globals): Promise<void> {
  const view = await policyOf(named, globals);
  if (globals.json) return printJson(view);
  const { name, digest, revoked, policy } = view;
  process.stdout.write(`# ${name} ${digest}\n`);
  if (revoked) process.stdout.write(`# revoked at ${revoked.at}: ${revoked.reason}\n`);
  process.stdout.write(await readable(policy));
}

export async function showExplanation(run: string, globals: Globals): Promise<void> {
  const client = await openClient(globals);
  const said = await client.call(routes.explainRun, { params: { run: (await runNamed(client, run)).id } });
  if (globals.json) return printJson(said);
  process.stdout.write(
    pairs([
      ['run', said.run],
      ['policy', said.policy && `${said.policy.name} ${said.policy.digest}`],
      ['revoked', said.revoked && `at ${said.revoked.at}: ${said.revoked.reason}`],
      ['verdict', said.admitted ? 'admitted' : 'refused'],
      ['runtime', said.runtime],
      ['queue', said.queue],
      ['image', said.image && `${said.image.ref} ${said.image.digest}`],
      ['env', said.env.join(' ')],
    ]),
  );
  for (const reason of said.reasons) process.stdout.write(`refused  ${visible(showIssue(reason))}\n`);
  for (const warning of said.warnings) process.stdout.write(`warning  ${visible(warning)}\n`);
  if (said.limits.length === 0) return;
  const rows = said.limits.map(({ name, asked, effective, ...rule }) => {
    const shown = (value: number | null) => (value === null ? '-' : showLimit(name, value));
    return [name, shown(effective), shown(asked), shown(rule.default), shown(rule.min), shown(rule.max)];
  });
  process.stdout.write(`\n${columns(['LIMIT', 'EFFECTIVE', 'ASKED', 'DEFAULT', 'AT LEAST', 'AT MOST'], rows)}`);
}

export async function revoke(digest: string, reason: string, globals: Globals): Promise<void> {
  const client = await openClient(globals);
  const revoked = await client.call(routes.revokePolicy, { params: { policy: digest }, json: { reason } });
  if (globals.json) printJson(revoked);
  reporterFor(globals).note(
    `Revoked ${revoked.policy} at ${revoked.at} (${revoked.reason}). Within seconds no run can use it.`,
  );
}
