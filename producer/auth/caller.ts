import type { Route } from '@hotcell/contract/api/route.ts';
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
  /** Runs the installation: sees workers, revokes policies, and may act for every tenant. */
  operator: boolean;
}

/** Its admins are the operator. */
export const operatorTenant = 'default';

const ranks: Readonly<Record<Role, number>> = { reader: 0, submitter: 1, admin: 2 };

/** The tenant is the key's; the operator may name another, and stays the operator when acting for it. */
export function callerFrom(record: ApiKeyRecord, namedTenant: string | undefined): Caller {
  const operator = record.role === 'admin' && record.tenant === operatorTenant;
  const caller: Caller = { key: record.id, tenant: record.tenant, role: record.role, operator };
  if (namedTenant === undefined || namedTenant === record.tenant) return caller;
  if (!operator)
    throw new HotcellError(
      'forbidden',
      `This key acts for the tenant ${record.tenant} only. Leave out the tenant, or use a key of the other tenant.`,
    );
  return { ...caller, tenant: parseAs(TenantName, namedTenant, 'the tenant') };
}

/** The one place that decides who may ask what. */
export function requireRole(caller: Caller, needed: Exclude<Route['role'], 'anyone'>): void {
  if (needed === 'operator') {
    if (caller.operator) return;
    throw new HotcellError(
      'forbidden',
      `Permission denied: only the operator (an admin of the tenant ${operatorTenant}) may do this.`,
    );
  }
  if (ranks[caller.role] >= ranks[needed]) return;
  throw new HotcellError(
    'forbidden',
    `Permission denied: this needs the role ${needed}, and the key ${caller.key} has the role ${caller.role}. Use another key.`,
  );
}

export function mayManageKeysOf(caller: Caller, tenant: string): boolean {
  return caller.operator || caller.tenant === tenant;
}
