import { routes } from '@hotcell/contract/api/routes.ts';
import { type ApiKeyView, Role } from '@hotcell/contract/apikey.ts';
import { type Command, Option } from 'commander';
import { openClient } from './client.ts';
import { columns } from './columns.ts';
import { examples, globalsOf, printJson } from './globals.ts';
import { aNumber } from './run-options.ts';
import { reporterFor } from './reporter.ts';

interface NewKey {
  role: Role;
  label?: string;
  expires?: number;
}

export function define(command: Command): void {
  const create = command.command('create').description('create a key and show it once');
  create
    .addOption(new Option('--role <role>', 'what the key may do').choices(Role.options).default('submitter'))
    .option('--label <text>', 'who or what uses the key')
    .option('--expires <days>', 'valid for so many days (default: until revoked)', aNumber);
  examples(create, [
    'apikey create --role reader --label dashboard',
    'apikey create --tenant finance --label "CI" --expires 90',
  ]);
  create.action(async (options: NewKey) => {
    const globals = globalsOf(create);
    const client = await openClient(globals);
    const expiresAt = options.expires === undefined ? {} : { expiresAt: daysFromNow(options.expires) };
    const json = { role: options.role, label: options.label ?? '', ...expiresAt };
    const made = await client.call(routes.createApiKey, { json });
    if (globals.json) return printJson(made);
    reporterFor(globals).note(
      `Created ${made.role} key ${made.id} for tenant ${made.tenant}. Copy it now, it is not shown again:`,
    );
    process.stdout.write(`${made.key}\n`);
  });

  const ls = command.command('ls').description('list the keys');
  examples(ls, ['apikey ls', 'apikey ls --json']);
  ls.action(async () => {
    const client = await openClient(globalsOf(ls));
    const { keys } = await client.call(routes.listApiKeys, {});
    if (globalsOf(ls).json) return keys.forEach(printJson);
    process.stdout.write(
      columns(
        ['KEY', 'TENANT', 'ROLE', 'CREATED', 'STATE', 'LABEL'],
        keys.map((key) => [key.id, key.tenant, key.role, key.createdAt, stateOf(key), key.label]),
      ),
    );
  });

  const revoke = command.command('revoke').description('revoke a key; it stops working within two seconds');
  revoke.argument('<key>', 'its id, as shown by ls');
  examples(revoke, ['apikey revoke 0123456789abcdef']);
  revoke.action(async (id: string) => {
    const globals = globalsOf(revoke);
    const client = await openClient(globals);
    const revoked = await client.call(routes.revokeApiKey, { params: { id } });
    if (globals.json) printJson(revoked);
    else reporterFor(globals).note(`Revoked key ${id}.`);
  });
}

function daysFromNow(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString();
}

function stateOf({ revokedAt, expiresAt }: ApiKeyView): string {
  if (revokedAt) return `revoked ${revokedAt}`;
  if (!expiresAt) return 'in use';
  return Date.parse(expiresAt) <= Date.now() ? `expired ${expiresAt}` : `until ${expiresAt}`;
}
