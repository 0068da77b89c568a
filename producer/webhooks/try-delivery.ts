import { type Delivery, keptTries, nextTryAt, payloadOfEvent } from '@hotcell/contract/webhook.ts';
import { webhookHeaders } from '@hotcell/contract/webhook-signature.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { readCallbackKeys } from '@hotcell/record/callback-records.ts';
import {
  type DeliveryPlace,
  endSending,
  putDelivery,
  putWebhook,
  readDelivery,
  readWebhook,
  type StoredWebhook,
} from '@hotcell/record/webhook-records.ts';
import type { Producer } from '../producer.ts';
import { postWebhook } from './post-webhook.ts';

/** Answers when it is to be tried again; undefined when it is over. */
export async function tryDelivery(
  producer: Producer,
  webhook: StoredWebhook | undefined,
  place: DeliveryPlace,
): Promise<number | undefined> {
  const { store } = producer;
  const stored = await readDelivery(store, place);
  if (stored?.value.state !== 'due') return await endSending(store, place);
  const { value: delivery } = stored;
  const due = Date.parse(delivery.nextAt);
  if (due > Date.now()) return due;
  const receiver = await receiverOf(producer, webhook, delivery);
  if (!receiver) {
    await putDelivery(store, { ...delivery, state: 'dropped' }, stored);
    return await endSending(store, place);
  }
  const tried = await tryOnce(producer, receiver, delivery);
  crashPoint('webhook.sent');
  // Before the record says that it is over: from then on a caller could ask for it again.
  if (tried.attempts.at(-1)?.status === 410) await receiver.disable?.();
  await putDelivery(store, tried, stored);
  crashPoint('webhook.noted');
  return tried.state === 'due' ? Date.parse(tried.nextAt) : await endSending(store, place);
}

interface Receiver {
  url: string;
  privateKey: string;
  /** When it is gone. A callback is told once: its delivery is over then, and there is nothing else to disable. */
  disable?: () => Promise<void>;
}

/** Undefined: a webhook that was removed or disabled. */
async function receiverOf(
  producer: Producer,
  webhook: StoredWebhook | undefined,
  { tenant, webhook: id, url }: Delivery,
): Promise<Receiver | undefined> {
  const { store } = producer;
  if (url !== undefined) {
    const keys = await readCallbackKeys(store, tenant);
    return keys && { url, privateKey: keys.privateKey };
  }
  const standing = webhook ?? (await readWebhook(store, tenant, id));
  if (!standing || standing.value.disabled || standing.value.removed) return undefined;
  return { ...standing.value, disable: () => disable(producer, standing) };
}

async function tryOnce(
  { webhookNetworks }: Producer,
  { url, privateKey }: Receiver,
  delivery: Delivery,
): Promise<Delivery> {
  const { event } = delivery;
  const begun = Date.now();
  const body = payloadOfEvent(event);
  const signed = webhookHeaders(privateKey, { id: event.id, timestamp: Math.floor(begun / 1000), body });
  const headers = { ...signed, 'content-type': 'application/json', 'user-agent': 'hotcell-webhooks' };
  const { status, said } = await postWebhook(url, body, headers, webhookNetworks);
  const now = Date.now();
  const attempt = { at: new Date(begun).toISOString(), ms: Math.max(0, now - begun), status, said };
  const tries = delivery.tries + 1;
  const attempts = [...delivery.attempts, attempt].slice(-keptTries);
  if (status !== null && status >= 200 && status < 300) return { ...delivery, tries, attempts, state: 'delivered' };
  const next = status === 410 ? undefined : nextTryAt(tries, now);
  if (next === undefined) return { ...delivery, tries, attempts, state: 'failed' };
  return { ...delivery, tries, attempts, nextAt: new Date(next).toISOString() };
}

/** Its receiver said that it is gone. */
async function disable({ store, log }: Producer, { value: { tenant, id } }: StoredWebhook): Promise<void> {
  const before = await readWebhook(store, tenant, id);
  if (!before || before.value.disabled || before.value.removed) return;
  const reason = 'its receiver answered 410: gone';
  log.info({ webhook: id, tenant }, 'disabled a webhook, as its receiver is gone');
  await putWebhook(store, { ...before.value, disabled: { at: new Date().toISOString(), reason } }, before);
}
