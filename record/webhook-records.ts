import type { Delivery, Webhook, WebhookEvent } from '@hotcell/contract/webhook.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import type { Buckets } from './buckets.ts';
import { deliveryName, recordKeys, workKeys } from './layout.ts';
import { objects } from './objects.ts';
import { isDamaged, put, putFirst, readStored, readValue, type Stored, swap } from './read-write.ts';

export type StoredWebhook = Pick<Stored<Webhook>, 'value' | 'etag'>;
export type StoredDelivery = Pick<Stored<Delivery>, 'value' | 'etag'>;

export async function readWebhook(store: Buckets, tenant: string, id: string): Promise<StoredWebhook | undefined> {
  return await readStored(store, objects.webhook, tenant, id);
}

/** Over exactly the version that was read, or where nothing was; `conflict` if another was faster. */
export async function putWebhook(
  store: Buckets,
  webhook: Webhook,
  before: Pick<StoredWebhook, 'etag'> | undefined,
): Promise<void> {
  await swap(store, objects.webhook, webhook, before, webhook.tenant, webhook.id);
}

/**
 * Puts a removed webhook under the id of one that was never made. A producer that wakes later fails at its put-if-absent,
 * and makes no webhook without a slot. False: it was made meanwhile.
 */
export async function putRemovedWebhook(
  store: Buckets,
  never: Pick<Webhook, 'tenant' | 'id' | 'createdAt'>,
): Promise<boolean> {
  const removed = { at: new Date().toISOString(), by: 'Hotcell' };
  const empty = { url: 'https://removed.invalid/', on: ['run.finished' as const], privateKey: '', publicKey: '' };
  try {
    await putWebhook(store, { version: 1, ...never, ...empty, by: removed.by, removed }, undefined);
    return true;
  } catch (error) {
    if (error instanceof PreconditionFailed) return false;
    throw error;
  }
}

/** Those that were not removed. One that can't be read is reported, and holds up no other. */
export async function webhooksOf(store: Buckets, tenant: string): Promise<StoredWebhook[]> {
  const prefix = recordKeys.webhooks(tenant);
  const found: StoredWebhook[] = [];
  for await (const { key } of store.list(store.record, prefix)) {
    const webhook = await readWebhook(store, tenant, key.slice(prefix.length, -'.json'.length)).catch(passOver(store));
    if (webhook && !webhook.value.removed) found.push(webhook);
  }
  return found;
}

/** What can't be read is reported, and counts as not there. */
export function passOver(store: Pick<Buckets, 'unreadable'>): (error: unknown) => undefined {
  return (error) => {
    if (!isDamaged(error)) throw error;
    store.unreadable(error);
  };
}

/** The tenants that have or had webhooks or callbacks. */
export async function tenantsWithWebhooks(store: Buckets): Promise<Set<string>> {
  const root = recordKeys.allWebhooks;
  const tenants = new Set<string>();
  for await (const folder of store.listFolders(store.record, root)) tenants.add(folder.slice(root.length, -1));
  return tenants;
}

/** From now on it is sent, whatever dies. Noted twice, it is the same event. */
export async function noteEvent(store: Buckets, event: WebhookEvent): Promise<void> {
  await putFirst(store, objects.webhookEvent, event, event.tenant, event.id);
}

/** The same of what has a callback, which is told, too. */
export async function noteCalledEvent(store: Buckets, event: WebhookEvent, callback: string): Promise<void> {
  await noteEvent(store, { ...event, version: 2, callback });
}

/** The same, for a tenant that may have no webhooks, of what may have no callback. */
export async function noteEventIfWanted(store: Buckets, event: WebhookEvent, callback?: string): Promise<void> {
  if (callback !== undefined) await noteCalledEvent(store, event, callback);
  else if (await hasWebhooks(store, event.tenant)) await noteEvent(store, event);
}

/** Removed ones count, too. */
export async function hasWebhooks(store: Buckets, tenant: string): Promise<boolean> {
  for await (const _ of store.list(store.record, recordKeys.webhooks(tenant), { pageSize: 1 })) return true;
  return false;
}

export async function* notedEvents(store: Buckets, tenant: string): AsyncGenerator<string> {
  const prefix = workKeys.webhookEvents(tenant);
  for await (const { key } of store.list(store.work, prefix, { pageSize: 100 })) yield key.slice(prefix.length);
}

export async function readEvent(store: Buckets, tenant: string, id: string): Promise<WebhookEvent | undefined> {
  return await readValue(store, objects.webhookEvent, tenant, id);
}

export async function forgetEvent(store: Buckets, tenant: string, id: string): Promise<void> {
  await store.delete(store.work, workKeys.webhookEvent(tenant, id));
}

/** The tenants for which something is to be sent. */
export async function tenantsToSendTo(store: Buckets): Promise<Set<string>> {
  const tenants = new Set<string>();
  for (const root of [workKeys.allWebhookEvents, workKeys.allSending, workKeys.allCalling])
    for await (const folder of store.listFolders(store.work, root)) tenants.add(folder.slice(root.length, -1));
  return tenants;
}

/** Which delivery: of a webhook, by its name, which sorts the newest first. */
export interface DeliveryPlace {
  tenant: string;
  webhook: string;
  name: string;
  /** Of a callback: where its mark stands. */
  track?: string;
}

export const nameOfDelivery = (event: Pick<WebhookEvent, 'id' | 'at'>) => deliveryName(Date.parse(event.at), event.id);

export async function readDelivery(store: Buckets, place: DeliveryPlace): Promise<StoredDelivery | undefined> {
  return await readStored(store, objects.delivery, place.tenant, place.webhook, place.name);
}

export async function putDelivery(
  store: Buckets,
  delivery: Delivery,
  before: Pick<StoredDelivery, 'etag'> | undefined,
): Promise<void> {
  const name = nameOfDelivery(delivery.event);
  await swap(store, objects.delivery, delivery, before, delivery.tenant, delivery.webhook, name);
}

export async function* deliveryNames(
  store: Buckets,
  { tenant, webhook, after }: { tenant: string; webhook: string; after?: string | undefined },
): AsyncGenerator<string> {
  const prefix = recordKeys.deliveries(tenant, webhook);
  const from = after === undefined ? {} : { after: recordKeys.delivery(tenant, webhook, after) };
  for await (const { key } of store.list(store.record, prefix, { ...from, pageSize: 100 }))
    yield key.slice(prefix.length, -'.json'.length);
}

/** The promise that it is tried until it succeeds, or its time is over. */
export async function markSending(store: Buckets, { tenant, webhook, name, track }: DeliveryPlace): Promise<void> {
  const mark = { version: 1, tenant } as const;
  if (track === undefined) await put(store, objects.sending, mark, tenant, webhook, name);
  else await put(store, objects.calling, mark, tenant, track, name);
}

export async function unmarkSending(store: Buckets, { tenant, webhook, name, track }: DeliveryPlace): Promise<void> {
  const key = track === undefined ? workKeys.sending(tenant, webhook, name) : workKeys.calling(tenant, track, name);
  await store.delete(store.work, key);
}

/**
 * It is over. A caller that asks for it again writes its record before its mark: one that does so at this moment shows
 * in the record, and its mark comes back. Answers when it is tried then.
 */
export async function endSending(store: Buckets, place: DeliveryPlace): Promise<number | undefined> {
  await unmarkSending(store, place);
  const again = await readDelivery(store, place);
  if (again?.value.state !== 'due') return undefined;
  await markSending(store, place);
  return Date.parse(again.value.nextAt);
}

/** The webhooks for which something is to be sent, removed ones too. */
export async function webhooksToSendTo(store: Buckets, tenant: string): Promise<Set<string>> {
  const root = workKeys.sendingOf(tenant);
  const webhooks = new Set<string>();
  for await (const folder of store.listFolders(store.work, root)) webhooks.add(folder.slice(root.length, -1));
  return webhooks;
}

/** The newest first, at most so many. */
export async function sendingTo(
  store: Buckets,
  { tenant, webhook, most }: { tenant: string; webhook: string; most: number },
): Promise<DeliveryPlace[]> {
  const names = await placesIn(store, workKeys.sendingTo(tenant, webhook), most);
  return names.map((name) => ({ tenant, webhook, name }));
}

/** The names of marks, at most so many. */
export async function placesIn(store: Buckets, prefix: string, most: number): Promise<string[]> {
  const names: string[] = [];
  for await (const { key } of store.list(store.work, prefix, { pageSize: most }))
    if (names.push(key.slice(prefix.length)) >= most) break;
  return names;
}
