import { tickName } from '@hotcell/contract/schedule-ticks.ts';
import type { TickRecord } from '@hotcell/contract/schedule.ts';
import type { Buckets } from './buckets.ts';
import { recordKeys } from './layout.ts';
import { objects } from './objects.ts';
import { readStored, type Stored, swap } from './read-write.ts';

export type StoredTick = Pick<Stored<TickRecord>, 'value' | 'etag'>;

/** Whose ticks they are. */
export interface TicksOf {
  tenant: string;
  /** The id of the schedule. */
  id: string;
}

export const nameOfTick = ({ kind, planned }: TickRecord) => tickName(kind, Date.parse(planned));

/** The first record of a tick, or one over exactly the version that was read; `conflict` if another was faster. */
export async function putTick(
  store: Buckets,
  tick: TickRecord,
  before?: Pick<StoredTick, 'etag'>,
): Promise<StoredTick> {
  const etag = await swap(store, objects.tick, tick, before, tick.tenant, tick.schedule, nameOfTick(tick));
  return { value: tick, etag };
}

export async function readTick(store: Buckets, { tenant, id }: TicksOf, name: string): Promise<StoredTick | undefined> {
  return await readStored(store, objects.tick, tenant, id, name);
}

/** The names of a schedule's ticks, the newest first. */
export async function* tickNames(
  store: Buckets,
  { tenant, id }: TicksOf,
  { after, pageSize = 50 }: { after?: string | undefined; pageSize?: number } = {},
): AsyncGenerator<string> {
  const prefix = recordKeys.ticks(tenant, id);
  const from = after === undefined ? {} : { after: recordKeys.tick(tenant, id, after) };
  for await (const { key } of store.list(store.record, prefix, { ...from, pageSize }))
    yield key.slice(prefix.length, -'.json'.length);
}
