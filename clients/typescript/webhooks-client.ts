import type { Call } from '@hotcell/contract/api/call.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import type { CallbacksView, DeliveryView, WebhookView } from '@hotcell/contract/api/webhooks.ts';
import type { Http } from './http.ts';

type NewWebhook = Call<typeof routes.createWebhook>['json'];
type DeliveryPageQuery = Call<typeof routes.listDeliveries>['query'];

/** Events that are sent to an address: `await hotcell.webhooks.create({ url, on: ['run.finished'] })`. */
export class Webhooks {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  async create(webhook: NewWebhook): Promise<WebhookView> {
    return await this.#http.call(routes.createWebhook, { json: webhook });
  }

  async list(): Promise<WebhookView[]> {
    return (await this.#http.call(routes.listWebhooks, {})).webhooks;
  }

  /** The key by which callbacks are signed. Their deliveries are those of the webhook `callbacks`. */
  async callbacks(): Promise<CallbacksView> {
    return await this.#http.call(routes.getCallbacks, {});
  }

  /** A page of what was sent, the newest first. */
  async deliveries(
    webhook: string,
    query: DeliveryPageQuery = {},
  ): Promise<{ deliveries: DeliveryView[]; next: string | null }> {
    return await this.#http.call(routes.listDeliveries, { params: { webhook }, query });
  }

  /** Sends an event again, from the first try on. */
  async redeliver(webhook: string, { event, at }: Pick<DeliveryView, 'event' | 'at'>): Promise<DeliveryView> {
    return await this.#http.call(routes.redeliver, { params: { webhook, event }, query: { at } });
  }

  async remove(webhook: string): Promise<void> {
    await this.#http.call(routes.deleteWebhook, { params: { webhook } });
  }
}
