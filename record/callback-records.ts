import { createHash } from 'node:crypto';
import type { CallbackKeys } from '@hotcell/contract/webhook.ts';
import type { Buckets } from './buckets.ts';
import { workKeys } from './layout.ts';
import { objects } from './objects.ts';
import { putFirst, readValue } from './read-write.ts';
import { type DeliveryPlace, placesIn } from './webhook-records.ts';

export async function readCallbackKeys(store: Buckets, tenant: string): Promise<CallbackKeys | undefined> {
  return await readValue(store, objects.callKeys, tenant);
}

/** Those that stand: another producer may have been first. */
export async function putCallbackKeys(store: Buckets, keys: CallbackKeys): Promise<CallbackKeys> {
  return await putFirst(store, objects.callKeys, keys, keys.tenant);
}

const tracks = 32;

/** Callbacks of a tenant go to many receivers: those of one host share a track, and a dead one holds up no other track. */
export function trackOf(url: string): string {
  const [first = 0] = createHash('sha256').update(new URL(url).hostname).digest();
  return String(first % tracks).padStart(2, '0');
}

/** In each track the newest, at most so many. */
export async function callingFor(
  store: Buckets,
  { tenant, id: webhook }: Pick<CallbackKeys, 'tenant' | 'id'>,
  most: number,
): Promise<DeliveryPlace[]> {
  const root = workKeys.callingOf(tenant);
  const places: DeliveryPlace[] = [];
  for await (const folder of store.listFolders(store.work, root)) {
    const track = folder.slice(root.length, -1);
    const found = await placesIn(store, workKeys.callingIn(tenant, track), most);
    places.push(...found.map((name) => ({ tenant, webhook, name, track })));
  }
  return places;
}
