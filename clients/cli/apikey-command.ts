import { type ApiKeyView, Role } from '@hotcell/contract/apikey.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import { type Command, Option } from 'commander';
import { asksApi } from './client.ts';
import { printRows } from './columns.ts';
import { printJson, subcommand } from './globals.ts';
import { aNumber } from './run-options.ts';

interface NewKey {
  role: Role;
  label?: string;
  expires?: number;
}

export function define(command: Command): void {
  const create = subcommand(command, 'create', 'create a key and show it once', [
    'apikey create --role reader --label dashboard',
    'apikey create --tenant finance --label "CI" --expires 90',
  ])
    .addOption(new Option('--role <role>', 'what the key may do').choices(Role.options).default('submitter'))
    .option('--label <text>', 'who or what uses the key')
    .option('--expires <days>', 'valid for so many days (default: until revoked)', aNumber);
  asksApi(create, async ({ client, globals, note }, { role, label = '', expires }: NewKey) => {
    const expiresAt = expires === undefined ? undefined : daysFromNow(expires);
    const made = await client.call(routes.createApiKey, { json: { role, label, expiresAt } });
    if (globals.json) return printJson(made);
    note(`Created ${made.role} key ${made.id} for tenant ${made.tenant}. Copy it now, it is not shown again:`);
    process.stdout.write(`${made.key}\n`);
  });

  const ls = subcommand(command, 'ls', 'list the keys', ['apikey ls', 'apikey ls --json']);
  asksApi(ls, async ({ client, globals }) => {
    const keys: ApiKeyView[] = [];
    for (let cursor: string | undefined | null; cursor !== null; ) {
      const page = await client.call(routes.listApiKeys, { query: { limit: 500, ...(cursor && { cursor }) } });
      keys.push(...page.keys);
      cursor = page.next;
    }
    keys.sort((a, b) => a.createdAt.localeCompare(b.createdAt));
    const heads = ['KEY', 'TENANT', 'ROLE', 'CREATED', 'STATE', 'LABEL'];
    printRows(globals, keys, heads, (key) => [key.id, key.tenant, key.role, key.createdAt, stateOf(key), key.label]);
  });

  const revoke = subcommand(command, 'revoke', 'revoke a key; it stops working within two seconds', [
    'apikey revoke 0123456789abcdef',
  ]).argument('<key>', 'its id, as shown by ls');
  asksApi(revoke, async ({ client, globals, note }, id: string) => {
    const revoked = await client.call(routes.revokeApiKey, { params: { id } });
    if (globals.json) printJson(revoked);
    else note(`Revoked key ${id}.`);
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
