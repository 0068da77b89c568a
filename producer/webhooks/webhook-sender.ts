import { inLanes } from '@hotcell/contract/lanes.ts';
import type { LiveEvent } from '@hotcell/contract/heartbeats.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import {
  type DeliveryPlace,
  sendingOf,
  type StoredWebhook,
  tenantsToSendTo,
  webhooksOf,
} from '@hotcell/record/webhook-records.ts';
import { Led, type LedTask } from '../led.ts';
import type { Producer } from '../producer.ts';
import { fanOut } from './fan-out.ts';
import { tryDelivery } from './try-delivery.ts';

const lookEveryMs = 2_000;
/** Tenants whose deliveries are tried at the same time: receivers that are slow hold up the others of their tenant. */
const tenantsAtOnce = 64;
const sendsAtOnce = 4;
const mostInTurn = 16;
/** More than these wait as events until some are done. */
const mostSending = 1_000;

/**
 * Sends what happened to those who asked for it. One producer leads. What is to be sent stands in the work bucket until
 * its delivery is over, so that a successor goes on where it was.
 */
export class WebhookSender implements LedTask, AsyncDisposable {
  readonly name = 'webhooks';
  readonly #producer: Producer;
  /** When deliveries are tried next, by tenant and place. */
  readonly #nextAt = new Map<string, Map<string, number>>();
  /** Webhooks whose last try failed: they are tried one at a time. */
  readonly #failing = new Set<string>();
  readonly #subscribed: Promise<Disposable>;
  readonly #led: Led;

  constructor(producer: Producer) {
    this.#producer = producer;
    this.#subscribed = producer.live.onEvent((event) => this.#heard(event));
    this.#led = new Led(producer, this, { atOnce: tenantsAtOnce, listEveryMs: lookEveryMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#led[Symbol.asyncDispose]();
    (await this.#subscribed)[Symbol.dispose]();
  }

  async *list(): AsyncGenerator<{ tenant: string; key: string }> {
    for (const tenant of await tenantsToSendTo(this.#producer.store)) yield { tenant, key: tenant };
  }

  forget(tenant: string): void {
    this.#nextAt.delete(tenant);
  }

  async look(tenant: string, keep: () => Promise<void>): Promise<number | undefined> {
    const { store } = this.#producer;
    const webhooks = await webhooksOf(store, tenant);
    const before = await this.#sending(tenant);
    if (before.length < mostSending) await fanOut(store, tenant, webhooks);
    const sending = before.length < mostSending ? await this.#sending(tenant) : before;
    const known = new Map(sending.map((place) => [keyOf(place), this.#nextAt.get(tenant)?.get(keyOf(place)) ?? 0]));
    this.#nextAt.set(tenant, known);
    const chosen = this.#choose(sending, known, Date.now());
    await inLanes(sendsAtOnce, chosen, async (place) => {
      await keep();
      await this.#try(webhooks, place, known);
    });
    if (sending.length === 0) this.forget(tenant);
    if (chosen.length === mostInTurn) return Date.now();
    return sending.length === 0 ? undefined : Date.now() + lookEveryMs;
  }

  async #sending(tenant: string): Promise<DeliveryPlace[]> {
    const places: DeliveryPlace[] = [];
    for await (const place of sendingOf(this.#producer.store, tenant)) if (places.push(place) >= mostSending) break;
    return places;
  }

  /** Those that are due, one webhook's turn after the other's. */
  #choose(sending: readonly DeliveryPlace[], known: ReadonlyMap<string, number>, now: number): DeliveryPlace[] {
    const due = sending.filter((place) => (known.get(keyOf(place)) ?? 0) <= now);
    const byWebhook = [...Map.groupBy(due, ({ webhook }) => webhook)].map(([webhook, places]) =>
      // The oldest come last in their list.
      places.toReversed().slice(0, this.#failing.has(webhook) ? 1 : mostInTurn),
    );
    const turns = Array.from({ length: mostInTurn }, (_, turn) => byWebhook.flatMap((places) => places[turn] ?? []));
    return turns.flat().slice(0, mostInTurn);
  }

  async #try(webhooks: readonly StoredWebhook[], place: DeliveryPlace, known: Map<string, number>): Promise<void> {
    const webhook = webhooks.find(({ value }) => value.id === place.webhook);
    try {
      const next = await tryDelivery(this.#producer, webhook, place);
      if (next === undefined) known.delete(keyOf(place));
      else known.set(keyOf(place), next);
      if (next === undefined) this.#failing.delete(place.webhook);
      else this.#failing.add(place.webhook);
    } catch (error) {
      // A caller asked for it again at the same moment: the next look reads it.
      if (!(error instanceof PreconditionFailed)) throw error;
      known.delete(keyOf(place));
    }
  }

  #heard(event: LiveEvent): void {
    if (event.type !== 'webhook') return;
    this.forget(event.tenant);
    this.#led.wake(event.tenant, event.tenant);
  }
}

const keyOf = ({ webhook, name }: DeliveryPlace) => `${webhook}/${name}`;
