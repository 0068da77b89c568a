import { inLanes } from '@hotcell/contract/lanes.ts';
import type { LiveEvent } from '@hotcell/contract/heartbeats.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import { callingFor, readCallbackKeys } from '@hotcell/record/callback-records.ts';
import {
  type DeliveryPlace,
  passOver,
  sendingTo,
  type StoredWebhook,
  tenantsToSendTo,
  webhooksOf,
  webhooksToSendTo,
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
/** What can't be read is looked at again, as an operator may have repaired it. */
const damagedAgainMs = 600_000;
/** Deliveries of a webhook that are looked at, the newest; older ones have their turn when some of these are over. */
const mostSending = 200;
/** Webhooks that were removed and still have deliveries to drop: so many have their turn at once. */
const mostRemoved = 20;
const listsAtOnce = 4;

/**
 * Sends what happened to those who asked for it. One producer leads. What is to be sent stands in the work bucket until
 * its delivery is over, so that a successor goes on where it was.
 */
export class WebhookSender implements LedTask, AsyncDisposable {
  readonly name = 'webhooks';
  readonly #producer: Producer;
  /** When deliveries are tried next, by tenant and place. */
  readonly #nextAt = new Map<string, Map<string, number>>();
  /** Webhooks and tracks whose last try failed: they are tried one at a time. */
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
    await fanOut(store, tenant, webhooks);
    const sending = await this.#sending(tenant, webhooks);
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

  /** For each webhook by itself: one whose receiver is dead holds up no other. */
  async #sending(tenant: string, webhooks: readonly StoredWebhook[]): Promise<DeliveryPlace[]> {
    const { store } = this.#producer;
    const removed = await webhooksToSendTo(store, tenant);
    const present = webhooks.flatMap(({ value: { id } }) => (removed.delete(id) ? id : []));
    const places: DeliveryPlace[] = [];
    await inLanes(listsAtOnce, [...present, ...[...removed].slice(0, mostRemoved)], async (webhook) => {
      places.push(...(await sendingTo(store, { tenant, webhook, most: mostSending })));
    });
    const keys = await readCallbackKeys(store, tenant);
    if (keys) places.push(...(await callingFor(store, keys, mostSending)));
    return places;
  }

  /** Those that are due, one webhook's turn after the other's. */
  #choose(sending: readonly DeliveryPlace[], known: ReadonlyMap<string, number>, now: number): DeliveryPlace[] {
    const due = sending.filter((place) => (known.get(keyOf(place)) ?? 0) <= now);
    const byReceiver = [...Map.groupBy(due, receiverOf)].map(([receiver, places]) =>
      // The oldest come last in their list.
      places.toReversed().slice(0, this.#failing.has(receiver) ? 1 : mostInTurn),
    );
    const turns = Array.from({ length: mostInTurn }, (_, turn) => byReceiver.flatMap((places) => places[turn] ?? []));
    return turns.flat().slice(0, mostInTurn);
  }

  async #try(webhooks: readonly StoredWebhook[], place: DeliveryPlace, known: Map<string, number>): Promise<void> {
    const webhook = webhooks.find(({ value }) => value.id === place.webhook);
    try {
      const next = await tryDelivery(this.#producer, webhook, place);
      if (next === undefined) known.delete(keyOf(place));
      else known.set(keyOf(place), next);
      if (next === undefined) this.#failing.delete(receiverOf(place));
      else this.#failing.add(receiverOf(place));
    } catch (error) {
      // A caller asked for it again at the same moment: the next look reads it.
      if (error instanceof PreconditionFailed) return void known.delete(keyOf(place));
      passOver(this.#producer.store)(error);
      known.set(keyOf(place), Date.now() + damagedAgainMs);
    }
  }

  #heard(event: LiveEvent): void {
    if (event.type !== 'webhook') return;
    this.forget(event.tenant);
    this.#led.wake(event.tenant, event.tenant);
  }
}

/** What shares a turn: a webhook, or the callbacks of a track. */
const receiverOf = ({ webhook, track }: DeliveryPlace) => (track === undefined ? webhook : `${webhook}/${track}`);
const keyOf = ({ webhook, name }: DeliveryPlace) => `${webhook}/${name}`;
