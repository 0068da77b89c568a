import { randomUUID } from 'node:crypto';
import { judgeWebhookUrl } from '@hotcell/contract/address-guard.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import {
  callbacksName,
  type Delivery,
  type Webhook,
  WebhookEventId,
  type WebhookEventType,
} from '@hotcell/contract/webhook.ts';
import { newWebhookKeys } from '@hotcell/contract/webhook-signature.ts';
import { trackOf, readCallbackKeys } from '@hotcell/record/callback-records.ts';
import {
  markSending,
  nameOfDelivery,
  putDelivery,
  putWebhook,
  readDelivery,
  readWebhook,
  type StoredWebhook,
} from '@hotcell/record/webhook-records.ts';
import { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import type { Producer } from '../producer.ts';
import { takeWebhookSlot } from './webhook-slots.ts';

export async function makeWebhook(
  { store, webhookNetworks }: Producer,
  { tenant, key }: Caller,
  { url, on }: { url: string; on: WebhookEventType[] },
): Promise<Webhook> {
  const judged = judgeWebhookUrl(url, webhookNetworks);
  if ('refused' in judged)
    throw new HotcellError('invalid', `url: ${judged.refused}.`, {
      issues: [{ path: 'url', message: `${judged.refused}.` }],
    });
  const createdAt = new Date().toISOString();
  const webhook: Webhook = {
    ...{ version: 1, tenant, id: randomUUID(), url: judged.url.href, on: [...new Set(on)], createdAt, by: key },
    ...newWebhookKeys(),
  };
  await takeWebhookSlot(store, webhook);
  await putWebhook(store, webhook, undefined);
  return webhook;
}

/** One that was not removed. A malformed id is an unknown one. */
async function requireWebhook({ store }: Producer, tenant: string, id: string): Promise<StoredWebhook> {
  const found = z.uuid().safeParse(id).success ? await readWebhook(store, tenant, id) : undefined;
  if (found && !found.value.removed) return found;
  throw new HotcellError('not_found', `Webhook ${id} not found. GET /v1/webhooks lists the webhooks.`);
}

export async function removeWebhook(producer: Producer, { tenant, key }: Caller, id: string): Promise<void> {
  const found = await requireWebhook(producer, tenant, id);
  const removed = { at: new Date().toISOString(), by: key };
  await putWebhook(producer.store, { ...found.value, removed }, found);
}

/** Under which deliveries stand: of a webhook that was not removed, or of the tenant's callbacks. */
export async function webhookIdOf(producer: Producer, tenant: string, named: string): Promise<string> {
  const keys = await readCallbackKeys(producer.store, tenant);
  if (keys && (named === callbacksName || named === keys.id)) return keys.id;
  if (named !== callbacksName) return (await requireWebhook(producer, tenant, named)).value.id;
  throw new HotcellError('not_found', 'Nothing was asked for with a callback yet.');
}

/** From its first try on, whatever became of it. The record comes first: the mark alone would find it as over. */
export async function sendAgain(
  producer: Producer,
  tenant: string,
  { webhook: named, event }: { webhook: string; event: { id: string; at: string } },
): Promise<Delivery> {
  const { store, live, log } = producer;
  const webhook = await webhookIdOf(producer, tenant, named);
  const disabled = (await readWebhook(store, tenant, webhook))?.value.disabled;
  if (disabled)
    throw new HotcellError('conflict', `Webhook ${webhook} is disabled: ${disabled.reason}. Make a new one.`);
  const place = { tenant, webhook, name: nameOfDelivery(event) };
  // A malformed id is an unknown one.
  const before = WebhookEventId.safeParse(event.id).success ? await readDelivery(store, place) : undefined;
  if (!before)
    throw new HotcellError('not_found', `${event.id} was never sent to webhook ${webhook}, or at another time.`);
  const again: Delivery = { ...before.value, state: 'due', tries: 0, nextAt: new Date().toISOString() };
  await putDelivery(store, again, before);
  await markSending(store, again.url === undefined ? place : { ...place, track: trackOf(again.url) });
  await live.webhookChanged(tenant).catch((error: unknown) => {
    log.info({ webhook, error }, 'failed to wake the sender of webhooks; it will see the delivery');
  });
  return again;
}
