import { Digest } from '@hotcell/contract/digest.ts';
import { currentPeriod } from '@hotcell/contract/schedule-ticks.ts';
import type { ScheduleHead, ScheduleVersion } from '@hotcell/contract/schedule.ts';
import type { Buckets } from './buckets.ts';
import { recordKeys } from './layout.ts';
import { objects } from './objects.ts';
import { putFirst, readStored, readValue, type Stored, swap } from './read-write.ts';

export type StoredHead = Pick<Stored<ScheduleHead>, 'value' | 'etag'>;

export async function readHead(store: Buckets, tenant: string, name: string): Promise<StoredHead | undefined> {
  return await readStored(store, objects.schedule, tenant, name);
}

/** Over exactly the version that was read, or where nothing was; `conflict` if another was faster. */
export async function putHead(
  store: Buckets,
  head: ScheduleHead,
  before: Pick<StoredHead, 'etag'> | undefined,
): Promise<StoredHead> {
  return { value: head, etag: await swap(store, objects.schedule, head, before, head.tenant, head.name) };
}

/** The tenants that have or had schedules. */
export async function* tenantsWithSchedules(store: Buckets): AsyncGenerator<string> {
  const root = recordKeys.schedules;
  for await (const folder of store.listFolders(store.record, root)) yield folder.slice(root.length, -1);
}

/** The names of a tenant's schedules in their order, and what changes whenever one of them does. */
export async function* listHeads(
  store: Buckets,
  tenant: string,
  { after, pageSize }: { after?: string | undefined; pageSize?: number } = {},
): AsyncGenerator<{ name: string; etag: string }> {
  const prefix = recordKeys.scheduleHeads(tenant);
  const from = after === undefined ? {} : { after: recordKeys.scheduleHead(tenant, after) };
  for await (const { key, etag } of store.list(store.record, prefix, { ...from, ...(pageSize && { pageSize }) }))
    yield { name: key.slice(prefix.length, -'.json'.length), etag };
}

/** Answers the one that stands: a version that another writer put first under this number is not this one. */
export async function putVersion(store: Buckets, version: ScheduleVersion): Promise<ScheduleVersion> {
  const { tenant, schedule, number } = version;
  return await putFirst(store, objects.scheduleVersion, version, tenant, schedule, number);
}

export async function readVersion(
  store: Buckets,
  { tenant, schedule, number }: Pick<ScheduleVersion, 'tenant' | 'schedule' | 'number'>,
): Promise<ScheduleVersion | undefined> {
  return await readValue(store, objects.scheduleVersion, tenant, schedule, number);
}

/** The snapshots that schedules name by their ids: no run may point to them yet. */
export async function* snapshotsOfSchedules(store: Buckets, tenant: string): AsyncGenerator<Digest> {
  for await (const { name } of listHeads(store, tenant)) {
    const head = (await readHead(store, tenant, name))?.value;
    if (!head || head.stopped?.kind === 'deleted') continue;
    const version = await readVersion(store, { tenant, schedule: head.id, number: currentPeriod(head).number });
    const { inputs = {}, workspace = '' } = version?.request ?? {};
    for (const source of [...Object.values(inputs), workspace]) if (Digest.safeParse(source).success) yield source;
  }
}
