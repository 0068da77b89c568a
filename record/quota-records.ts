import type { Buckets } from './buckets.ts';
import { recordKeys } from './layout.ts';
import { objects } from './objects.ts';
import { put, readValue } from './read-write.ts';
import type { QuotaRecord } from './schemas.ts';

export function putQuota(store: Buckets, record: QuotaRecord): Promise<void> {
  return put(store, objects.quota, record, record.tenant);
}

/** What was set for each tenant. One that `known` still holds as it stands there is not read again. */
export async function quotaRecords(
  store: Buckets,
  known: ReadonlyMap<string, { etag: string; record: QuotaRecord }>,
): Promise<Map<string, { etag: string; record: QuotaRecord }>> {
  const found = new Map<string, { etag: string; record: QuotaRecord }>();
  const prefix = recordKeys.quotas;
  for await (const { key, etag } of store.list(store.record, prefix)) {
    const tenant = key.slice(prefix.length, -'.json'.length);
    const before = known.get(tenant);
    const record = before?.etag === etag ? before.record : await readValue(store, objects.quota, tenant);
    if (record) found.set(tenant, { etag, record });
  }
  return found;
}
