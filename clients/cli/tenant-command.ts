import { routes } from '@hotcell/contract/api/routes.ts';
import type { Command } from 'commander';
import { asksApi } from './client.ts';
import { printJson, subcommand } from './globals.ts';

export function define(command: Command): void {
  const create = subcommand(command, 'create', 'make a tenant, so that it can have keys and runs', [
    'tenant create finance',
    'apikey create --tenant finance --role submitter',
  ]).argument('<tenant>');
  asksApi(create, async ({ client, globals, note }, tenant: string) => {
    const made = await client.call(routes.createTenant, { json: { tenant } });
    if (globals.json) return printJson(made);
    note(`Tenant ${tenant} exists. A key for it: ./hotcell apikey create --tenant ${tenant}`);
  });

  const ls = subcommand(command, 'ls', 'list the tenants', ['tenant ls', 'tenant ls --json']);
  asksApi(ls, async ({ client, globals }) => {
    const { tenants } = await client.call(routes.listTenants, {});
    if (globals.json) tenants.forEach((tenant) => printJson({ tenant }));
    else process.stdout.write(tenants.map((tenant) => `${tenant}\n`).join(''));
  });
}
