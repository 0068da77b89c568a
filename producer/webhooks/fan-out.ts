import type { Delivery, WebhookEvent } from '@hotcell/contract/webhook.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { trackOf } from '@hotcell/record/callback-records.ts';
import {
  type DeliveryPlace,
  forgetEvent,
  markSending,
  nameOfDelivery,
  notedEvents,
  passOver,
  putDelivery,
  readDelivery,
  readEvent,
  type StoredWebhook,
} from '@hotcell/record/webhook-records.ts';
import { callbackKeysOf } from './callbacks.ts';

const mostEvents = 100;

/**
 * Makes a delivery of each event for each webhook that wants it, and for its callback: its record, then the mark that it is to be sent. Only
 * then is the event forgotten, so that none is lost on the way.
 */
export async function fanOut(store: Buckets, tenant: string, webhooks: readonly StoredWebhook[]): Promise<void> {
  let count = 0;
  for await (const id of notedEvents(store, tenant)) {
    const event = await readEvent(store, tenant, id).catch(passOver(store));
    // One that can't be read is kept, for the operator.
    if (!event) continue;
    for (const { value } of webhooks)
      if (!value.disabled && value.on.includes(event.type))
        await makeDelivery(store, value.id, event).catch(passOver(store));
    if (event.callback !== undefined) await makeCallback(store, event, event.callback).catch(passOver(store));
    await forgetEvent(store, tenant, id);
    if (++count >= mostEvents) return;
  }
}

async function makeCallback(store: Buckets, event: WebhookEvent, url: string): Promise<void> {
  const { id } = await callbackKeysOf(store, event.tenant);
  await makeDelivery(store, id, event, { url, track: trackOf(url) });
}

async function makeDelivery(
  store: Buckets,
  webhook: string,
  { id, type, at, data, tenant }: WebhookEvent,
  call?: { url: string; track: string },
): Promise<void> {
  const event = { version: 1, tenant, id, type, at, data } as const;
  const place: DeliveryPlace = { tenant, webhook, name: nameOfDelivery(event), ...(call && { track: call.track }) };
  const before = await readDelivery(store, place);
  if (!before) {
    const fresh = { state: 'due', tries: 0, nextAt: new Date().toISOString(), attempts: [] } as const;
    const to = { webhook, ...(call && { url: call.url }) };
    const delivery: Delivery = { version: 1, tenant, ...to, event, ...fresh, attempts: [] };
    await putDelivery(store, delivery, undefined);
    crashPoint('webhook.made');
  }
  if (!before || before.value.state === 'due') await markSending(store, place);
  crashPoint('webhook.marked');
}
