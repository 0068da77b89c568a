import { showLimit } from '@hotcell/contract/limits.ts';
import { showIssue } from '@hotcell/contract/parse.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import { openClient } from '../client.ts';
import { columns, pairs } from '../columns.ts';
import { type Globals, printJson } from '../globals.ts';
import { visible } from '../visible.ts';

export async function explain(run: string, globals: Globals): Promise<void> {
  const client = await openClient(globals);
  const said = await client.call(routes.explainRun, { params: { run } });
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
