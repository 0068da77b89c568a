import { z } from 'zod';
import { TenantName } from './names.ts';

const time = z.iso.datetime();

export const WebhookEventType = z.enum([
  'run.finished',
  'batch.finished',
  'workflow.finished',
  'schedule.paused',
  'schedule.refused',
  'schedule.missed',
]);
export type WebhookEventType = z.infer<typeof WebhookEventType>;

/** So many webhooks may a tenant have. */
export const mostWebhooks = 20;

export const mostUrl = 2048;
export const WebhookUrl = z.string().min(1).max(mostUrl).describe('where to send: an address with https://');
/** A request's own: what was asked for is told of there when it has ended. */
export const Callback = WebhookUrl.describe('tell this address when it has ended, as webhooks are told: with https://');

/** Names what happened, for ever: a receiver that sees it twice knows it again. */
export const WebhookEventId = z.string().regex(/^[a-z0-9-]{1,100}$/, 'must be the id of an event');

/** What happened, as short as can be. The API says more. */
export const WebhookEvent = z.strictObject({
  /** 2: with a callback. Leaders of earlier versions can't read it and leave it, or they would forget the callback. */
  version: z.literal([1, 2]),
  tenant: TenantName,
  id: WebhookEventId,
  type: WebhookEventType,
  at: time,
  data: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
  /** Told of it, too. */
  callback: WebhookUrl.optional(),
});
export type WebhookEvent = z.infer<typeof WebhookEvent>;

export const Webhook = z.strictObject({
  version: z.literal(1),
  tenant: TenantName,
  id: z.uuid(),
  url: WebhookUrl,
  on: z.array(WebhookEventType).min(1).max(WebhookEventType.options.length),
  createdAt: time,
  by: z.string(),
  /** Ed25519: what is sent is signed with the one, and its receiver checks it with the other. */
  privateKey: z.string(),
  publicKey: z.string(),
  /** Nothing is sent any more. */
  disabled: z.strictObject({ at: time, reason: z.string() }).optional(),
  removed: z.strictObject({ at: time, by: z.string() }).optional(),
});
export type Webhook = z.infer<typeof Webhook>;

/** By what a tenant's callbacks are signed: one key for all of them. */
export const CallbackKeys = z.strictObject({
  version: z.literal(1),
  tenant: TenantName,
  /** In the place of a webhook's, where deliveries are kept and listed. */
  id: z.uuid(),
  createdAt: time,
  privateKey: z.string(),
  publicKey: z.string(),
});
export type CallbackKeys = z.infer<typeof CallbackKeys>;

/** By this name the API takes a tenant's callbacks where it takes the id of a webhook. */
export const callbacksName = 'callbacks';

/** One try, and what the receiver answered. */
export const DeliveryTry = z.strictObject({
  at: time,
  ms: z.number().int().min(0),
  status: z.number().int().nullable(),
  said: z.string().max(2_000).describe('the beginning of the answer, or why there is none'),
});
export type DeliveryTry = z.infer<typeof DeliveryTry>;

/** So many tries are kept, the newest. */
export const keptTries = 20;

export const DeliveryState = z.enum(['due', 'delivered', 'failed', 'dropped']);

export const Delivery = z.strictObject({
  version: z.literal(1),
  tenant: TenantName,
  webhook: z.uuid(),
  /** Where it is sent, if that is a callback. */
  url: WebhookUrl.optional(),
  event: WebhookEvent,
  state: DeliveryState,
  /** Since it was made, or since a caller asked for it again. */
  tries: z.number().int().min(0),
  /** When it is tried next, while it is due. */
  nextAt: time,
  attempts: z.array(DeliveryTry).max(keptTries),
});
export type Delivery = z.infer<typeof Delivery>;

const minute = 60;
const hour = 60 * minute;
/** How long after each try the next one comes: for three days, as Standard Webhooks advises. */
const backoffSeconds = [5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];

/** When to try again after so many tries that failed; undefined: never. */
export function nextTryAt(tries: number, now: number): number | undefined {
  const seconds = backoffSeconds[tries - 1];
  return seconds === undefined ? undefined : now + seconds * 1000;
}

/** What is sent. */
export function payloadOfEvent({ type, at, data, tenant }: WebhookEvent): string {
  return JSON.stringify({ type, timestamp: at, data: { tenant, ...data } });
}
