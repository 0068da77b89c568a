import { z } from 'zod';
import {
  callbacksName,
  DeliveryState,
  DeliveryTry,
  Webhook,
  WebhookEventId,
  WebhookEventType,
  WebhookUrl,
} from '../webhook.ts';
import { answerObject, inDigits, jsonAnswer, jsonBody, requestObject, tagged } from './route.ts';

const time = z.iso.datetime();

const WebhookView = answerObject('Webhook', {
  id: z.uuid(),
  url: z.string(),
  on: z.array(WebhookEventType),
  createdAt: time,
  publicKey: z.string().describe('what is sent is signed with its private half (v1a of Standard Webhooks)'),
  disabled: Webhook.shape.disabled.describe('nothing is sent any more'),
});
export type WebhookView = z.infer<typeof WebhookView>;

const CallbacksView = answerObject('WebhookCallbacks', {
  id: z.uuid(),
  publicKey: z.string().describe('callbacks are signed with its private half (v1a of Standard Webhooks)'),
  createdAt: time,
});
export type CallbacksView = z.infer<typeof CallbacksView>;

const DeliveryView = answerObject('WebhookDelivery', {
  event: WebhookEventId.describe('what is sent as webhook-id'),
  url: z.string().optional().describe('where a callback is sent'),
  type: WebhookEventType,
  at: time.describe('when it happened'),
  data: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
  state: DeliveryState.describe('due: it is tried again; dropped: its webhook was removed or disabled before'),
  nextAt: time.nullable().describe('when it is tried next'),
  attempts: z.array(DeliveryTry).describe('the newest tries, the oldest of them first'),
});
export type DeliveryView = z.infer<typeof DeliveryView>;

const webhook = z.string().describe(`an id; of deliveries also "${callbacksName}"`);
const params = z.strictObject({ webhook });
const route = tagged('webhooks');

export const webhookRoutes = {
  createWebhook: route('POST /v1/webhooks', 'submitter', 'Have events sent to an address', {
    description:
      'Each event is sent as Standard Webhooks says, signed with Ed25519 (v1a), and tried again for three days. Networks of the operator’s own are reached only if the operator allows them.',
    body: jsonBody(
      requestObject('WebhookRequest', {
        url: WebhookUrl,
        on: z.array(WebhookEventType).min(1).max(WebhookEventType.options.length),
      }),
    ),
    answers: { 201: jsonAnswer('the webhook', WebhookView) },
  }),
  listWebhooks: route('GET /v1/webhooks', 'reader', 'List webhooks', {
    answers: { 200: jsonAnswer('all of them', answerObject('Webhooks', { webhooks: z.array(WebhookView) })) },
  }),
  getCallbacks: route('GET /v1/webhooks/callbacks', 'reader', 'Show the key by which callbacks are signed', {
    description:
      'A run, batch or workflow may name a `callback`: it is told there of its end. All of a tenant are signed with one key, which is made when it is first needed or asked for. Deliveries are listed and sent again as those of a webhook, under the id `callbacks`.',
    answers: { 200: jsonAnswer('the key', CallbacksView) },
  }),
  listDeliveries: route('GET /v1/webhooks/{webhook}/deliveries', 'reader', 'List what was sent, the newest first', {
    params,
    query: z.strictObject({
      limit: inDigits(z.number().int().min(1).max(100)).default(20),
      cursor: z.string().max(200).optional().describe('the "next" of the page before'),
    }),
    answers: {
      200: jsonAnswer(
        'a page of deliveries',
        answerObject('DeliveryPage', { deliveries: z.array(DeliveryView), next: z.string().nullable() }),
      ),
    },
    problems: [404],
  }),
  redeliver: route(
    'POST /v1/webhooks/{webhook}/deliveries/{event}/redeliver',
    'submitter',
    'Send an event again, from the first try on',
    {
      params: z.strictObject({ webhook, event: z.string() }),
      query: z.strictObject({ at: time.describe('when it happened, as the list of deliveries says it') }),
      answers: { 202: jsonAnswer('it is sent again', DeliveryView) },
      problems: [404, 409],
    },
  ),
  deleteWebhook: route('DELETE /v1/webhooks/{webhook}', 'submitter', 'Send nothing there any more', {
    params,
    answers: { 200: jsonAnswer('removed', answerObject('RemovedWebhook', { id: z.uuid() })) },
    problems: [404],
  }),
};
