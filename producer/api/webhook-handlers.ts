import type { DeliveryView, WebhookView } from '@hotcell/contract/api/webhooks.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import type { Delivery, Webhook } from '@hotcell/contract/webhook.ts';
import { deliveryNames, readDelivery, webhooksOf } from '@hotcell/record/webhook-records.ts';
import type { Producer } from '../producer.ts';
import { callbackKeysOf } from '../webhooks/callbacks.ts';
import { makeWebhook, removeWebhook, sendAgain, webhookIdOf } from '../webhooks/change-webhook.ts';
import type { Handlers } from './register-routes.ts';

const readsAtOnce = 8;

export function webhookHandlers(producer: Producer) {
  const { store } = producer;
  return {
    async createWebhook({ caller, body, reply }) {
      const webhook = await makeWebhook(producer, caller, body);
      reply.code(201);
      return shownWebhook(webhook);
    },

    async listWebhooks({ caller: { tenant } }) {
      return { webhooks: (await webhooksOf(store, tenant)).map(({ value }) => shownWebhook(value)) };
    },

    async getCallbacks({ caller: { tenant } }) {
      const { id, publicKey, createdAt } = await callbackKeysOf(store, tenant);
      return { id, publicKey, createdAt };
    },

    async listDeliveries({ caller: { tenant }, params, query: { limit, cursor } }) {
      const webhook = await webhookIdOf(producer, tenant, params.webhook);
      const names: string[] = [];
      for await (const name of deliveryNames(store, { tenant, webhook, after: cursor }))
        if (names.push(name) > limit) break;
      const page = names.slice(0, limit);
      const found = new Map<string, DeliveryView>();
      await inLanes(readsAtOnce, page, async (name) => {
        const delivery = await readDelivery(store, { tenant, webhook, name });
        if (delivery) found.set(name, shownDelivery(delivery.value));
      });
      const deliveries = page.flatMap((name) => found.get(name) ?? []);
      return { deliveries, next: names.length > limit ? (page.at(-1) ?? null) : null };
    },

    async redeliver({ caller: { tenant }, params: { webhook, event }, query: { at }, reply }) {
      reply.code(202);
      return shownDelivery(await sendAgain(producer, tenant, { webhook, event: { id: event, at } }));
    },

    async deleteWebhook({ caller, params: { webhook } }) {
      await removeWebhook(producer, caller, webhook);
      return { id: webhook };
    },
  } satisfies Partial<Handlers>;
}

/** Never with the key that signs. */
function shownWebhook({ id, url, on, createdAt, publicKey, disabled }: Webhook): WebhookView {
  return { id, url, on, createdAt, publicKey, ...(disabled && { disabled }) };
}

function shownDelivery({ event, url, state, nextAt, attempts }: Delivery): DeliveryView {
  const { id, type, at, data } = event;
  const to = url === undefined ? {} : { url };
  return { event: id, ...to, type, at, data, state, nextAt: state === 'due' ? nextAt : null, attempts };
}
