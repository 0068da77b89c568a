import { limitNames, showLimit } from '@hotcell/contract/limits.ts';
import { showIssue } from '@hotcell/contract/parse.ts';
import { z } from 'zod';
import { openClient } from '../client.ts';
import { columns, pairs } from '../columns.ts';
import { type Globals, printJson } from '../globals.ts';
import { visible } from '../visible.ts';

const Explanation = z.looseObject({
  run: z.string(),
  policy: z.looseObject({ name: z.string(), digest: z.string() }).nullable(),
  revoked: z.looseObject({ at: z.string(), reason: z.string() }).nullable(),
  admitted: z.boolean(),
  reasons: z.array(z.looseObject({ path: z.string(), message: z.string() })),
  warnings: z.array(z.string()),
  runtime: z.string().nullable(),
  queue: z.string().nullable(),
  image: z.looseObject({ ref: z.string(), digest: z.string() }).nullable(),
  env: z.array(z.string()),
  limits: z.array(
    z.looseObject({
      name: z.enum(limitNames),
      asked: z.number().nullable(),
      min: z.number(),
      default: z.number(),
      max: z.number(),
      effective: z.number().nullable(),
    }),
  ),
});

export async function explain(run: string, globals: Globals): Promise<void> {
  const { http } = await openClient(globals);
  const said = await http.json(Explanation, 'GET', `/v1/runs/${encodeURIComponent(run)}/policy`);
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
