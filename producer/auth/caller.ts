import { HotcellError } from '@hotcell/contract/errors.ts';
import { TenantName } from '@hotcell/contract/names.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import type { ApiKeyRecord } from '@hotcell/record/schemas.ts';
import type { Role } from '@hotcell/contract/apikey.ts';

/** Who asks, and for which tenant. */
export interface Caller {
  /** The id of the key, never the key. */
  key: string;
  tenant: string;
  role: Role;
  /** Whoever runs the installation: sees workers, and may act for every tenant. */
  operator: boolean;
}

/** The tenant of whoever runs the installation: its admins alone may act for other tenants. */
const operatorTenant = 'default';

const ranks: Readonly<Record<Role, number>> = { reader: 0, submitter: 1, admin: 2 };

export function mayActAs(caller: Caller, role: Role): boolean {
  return ranks[caller.role] >= ranks[role];
}

function isOperator(record: ApiKeyRecord): boolean {
  return record.role === 'admin' && record.tenant === operatorTenant;
}

/** Everybody acts for the tenant of their key; the operator for the one that is named. */
export function callerFrom(record: ApiKeyRecord, askedTenant: string | undefined): Caller {
  const caller: Caller = { key: record.id, tenant: record.tenant, role: record.role, operator: isOperator(record) };
  if (askedTenant === undefined || askedTenant === record.tenant) return caller;
  if (!caller.operator)
    throw new HotcellError(
      'forbidden',
      `this key acts for the tenant ${record.tenant} alone: leave the tenant away, or use a key of the one you mean`,
    );
  return { ...caller, tenant: parseAs(TenantName, askedTenant, 'the tenant') };
}
