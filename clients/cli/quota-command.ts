import type { TenantQuotas } from '@hotcell/contract/api/quotas.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import { type QuotaName, quotaNames, quotaTable, showQuota, type TenantQuota } from '@hotcell/contract/quota.ts';
import { parseBytes } from '@hotcell/contract/sizes.ts';
import { type Command, InvalidArgumentError } from 'commander';
import { asksApi } from './client.ts';
import { columns, printRows } from './columns.ts';
import { printJson, subcommand } from './globals.ts';

const optionOf = (name: QuotaName) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export function define(command: Command): void {
  const ls = subcommand(command, 'ls', 'list the tenants that have quotas of their own', [
    'quota ls',
    'quota ls --json',
  ]);
  asksApi(ls, async ({ client, globals, note }) => {
    const { tenants, problems } = await client.call(routes.listQuotas, {});
    for (const problem of problems) note(`not in force: ${problem}`);
    printRows(globals, tenants, ['TENANT', ...quotaNames.map((name) => name.toUpperCase())], ({ tenant, quotas }) => [
      tenant,
      ...quotaNames.map((name) => limitText(name, quotas[name])),
    ]);
  });

  const show = subcommand(command, 'show', 'show the quotas of a tenant and what it uses of them', [
    'quota show finance',
  ]).argument('<tenant>');
  asksApi(show, async ({ client, globals }, tenant: string) => {
    const found = await client.call(routes.getQuotas, { params: { tenant } });
    if (globals.json) printJson(found);
    else process.stdout.write(tableOf(found));
  });

  const set = subcommand(command, 'set', 'set quotas of a tenant; others that were set stay', [
    'quota set finance --running-runs 8 --waiting-runs 1000',
    'quota set finance --running-runs unlimited',
  ]).argument('<tenant>');
  for (const name of quotaNames) {
    const { unit, help } = quotaTable[name];
    set.option(`--${optionOf(name)} <${unit === 'bytes' ? 'size' : 'number'}>`, help, valueFor(name));
  }
  asksApi(set, async ({ client, globals, note }, tenant: string, asked: TenantQuota) => {
    const before = await client.call(routes.getQuotas, { params: { tenant } });
    const json = { ...setOf(before), ...asked };
    const now = await client.call(routes.setQuotas, { params: { tenant }, json });
    if (globals.json) return printJson(now);
    note(`Set quotas of ${tenant}.`);
    process.stdout.write(tableOf(now));
  });

  const unset = subcommand(command, 'unset', 'let the quotas of a tenant follow from the file again', [
    'quota unset finance',
  ]).argument('<tenant>');
  asksApi(unset, async ({ client, globals, note }, tenant: string) => {
    const now = await client.call(routes.unsetQuotas, { params: { tenant } });
    if (globals.json) return printJson(now);
    note(`The quotas of ${tenant} follow from the file again.`);
    process.stdout.write(tableOf(now));
  });
}

const valueFor = (name: QuotaName) => (text: string) => {
  if (text === 'unlimited') return text;
  const value = quotaTable[name].unit === 'bytes' ? parseBytes(text) : Number(text);
  if (value === undefined || !Number.isFinite(value) || text.trim() === '')
    throw new InvalidArgumentError(`Write a ${quotaTable[name].unit === 'bytes' ? 'size' : 'number'}, or unlimited.`);
  return value;
};

type Use = TenantQuotas['quotas'][QuotaName];
const limitText = (name: QuotaName, { limit }: Use) => showQuota(name, limit ?? Number.POSITIVE_INFINITY);

function tableOf({ quotas }: TenantQuotas): string {
  const rows = quotaNames.map((name) => {
    const { used, from } = quotas[name];
    return [name, limitText(name, quotas[name]), used === null ? '-' : showQuota(name, used), from];
  });
  return columns(['QUOTA', 'LIMIT', 'USED', 'FROM'], rows);
}

/** What was set through the API before. */
function setOf({ quotas }: TenantQuotas): TenantQuota {
  return Object.fromEntries(
    quotaNames.filter((name) => quotas[name].from === 'api').map((name) => [name, quotas[name].limit ?? 'unlimited']),
  );
}
