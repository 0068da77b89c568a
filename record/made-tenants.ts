import type { Buckets } from './buckets.ts';
import { recordKeys } from './layout.ts';
import { objects } from './objects.ts';
import { has, putFirst } from './read-write.ts';
import type { TenantRecord } from './schemas.ts';

/** What stands there now: this record, or the one that was first. */
export async function makeTenant(store: Buckets, record: TenantRecord): Promise<TenantRecord> {
  return await putFirst(store, objects.tenant, record, record.tenant);
}

export async function* madeTenants(store: Buckets): AsyncGenerator<string> {
  const prefix = recordKeys.tenants;
  for await (const { key } of store.list(store.record, prefix)) yield key.slice(prefix.length, -'.json'.length);
}

/** Whether it was made, or has runs, snapshots or quotas from before tenants were made. */
export async function tenantExists(store: Buckets, tenant: string): Promise<boolean> {
  if (await has(store, objects.tenant, tenant)) return true;
  if (await has(store, objects.quota, tenant)) return true;
  for (const prefix of [recordKeys.tenantRuns(tenant), recordKeys.snapshots(tenant)])
    for await (const _ of store.list(store.record, prefix)) return true;
  return false;
}
