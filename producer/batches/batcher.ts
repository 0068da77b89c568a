import { HotcellError } from '@hotcell/contract/errors.ts';
import type { LiveEvent } from '@hotcell/contract/heartbeats.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { openBatches, putBatch, readBatch, type StoredBatch, unmarkBatch } from '@hotcell/record/batch-records.ts';
import { Led, type LedTask } from '../led.ts';
import type { Producer } from '../producer.ts';
import { advanceBatch } from './advance-batch.ts';
import { failBatch, tellEnd } from './end-batch.ts';
import { type KnownBatch, knowBatch, roundOf } from './known-batch.ts';
import { findBegun } from './settle-items.ts';
import { writeItems } from './write-items.ts';

/** A change of which no message came is seen within this time. */
const readEveryMs = 10_000;
const mostWriting = 4;
const writeAgainMs = 500;

/**
 * Goes on with the batches of all tenants. One producer leads. The record drives: what a batch does next follows from
 * its head, its lists of items, the ends that are written down and the results of runs. Messages only wake.
 */
export class Batcher implements LedTask, AsyncDisposable {
  readonly name = 'batches';
  readonly #producer: Producer;
  readonly #known = new Map<string, KnownBatch>();
  readonly #awaited = new Map<RunId, string>();
  readonly #stale = new Set<string>();
  /** The tenants for which items are written down: one batch of each at a time, and few at once. */
  readonly #writing = new Set<string>();
  readonly #subscribed: Promise<Disposable>;
  readonly #led: Led;

  constructor(producer: Producer) {
    this.#producer = producer;
    this.#subscribed = producer.live.onEvent((event) => this.#heard(event));
    this.#led = new Led(producer, this);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#led[Symbol.asyncDispose]();
    (await this.#subscribed)[Symbol.dispose]();
  }

  async *list(): AsyncGenerator<{ tenant: string; key: string }> {
    for await (const { tenant, batch, round } of openBatches(this.#producer.store))
      yield { tenant, key: keyOf(tenant, batch, round) };
  }

  forget(key: string): void {
    const known = this.#known.get(key);
    this.#known.delete(key);
    for (const run of known?.open.keys() ?? []) this.#awaited.delete(run);
  }

  async look(key: string, keep: () => Promise<void>): Promise<number | undefined> {
    const place = placeIn(key);
    const head = await this.#headOf(key, place);
    if (!head) return undefined;
    if (head.value.items === undefined && !(await this.#write(head, place, keep)))
      return (await this.#isOver(place)) ? undefined : Date.now() + writeAgainMs;
    const known = this.#known.get(key) ?? (await this.#know(key, place));
    if (!known) return undefined;
    const at = await advanceBatch(this.#producer, known, keep);
    if (at === undefined) this.forget(key);
    return known.heard.size > 0 && at !== undefined ? Date.now() : at;
  }

  /** The head as it stands, read again from time to time; undefined for a round that has ended. */
  async #headOf(key: string, place: Place): Promise<StoredBatch | undefined> {
    const known = this.#known.get(key);
    const isFresh = known && Date.now() - known.readAt < readEveryMs;
    if (isFresh && !this.#stale.delete(key)) return known.head;
    const head = await readBatch(this.#producer.store, place);
    if (!head) {
      await unmarkBatch(this.#producer.store, place);
      return undefined;
    }
    if (roundOf(head.value, place.round).ended) {
      await tellEnd(this.#producer.store, head.value, place.round);
      return undefined;
    }
    if (known) Object.assign(known, { head, readAt: Date.now() });
    return head;
  }

  /** The items are written down before any is begun. False: not now, or there are none. */
  async #write(head: StoredBatch, { round }: Place, keep: () => Promise<void>): Promise<boolean> {
    const { tenant } = head.value;
    if (this.#writing.has(tenant) || this.#writing.size >= mostWriting) return false;
    this.#writing.add(tenant);
    try {
      const items = await writeItems(this.#producer, head.value, keep);
      await putBatch(this.#producer.store, { ...head.value, items }, head);
      crashPoint('batch.listed');
      return true;
    } catch (error) {
      if (!(error instanceof HotcellError) || error.retryable) throw error;
      await failBatch(this.#producer, { head, round }, error.message);
      return false;
    } finally {
      this.#writing.delete(tenant);
    }
  }

  async #isOver(place: Place): Promise<boolean> {
    const head = await readBatch(this.#producer.store, place);
    return !head || roundOf(head.value, place.round).ended !== undefined;
  }

  async #know(key: string, place: Place): Promise<KnownBatch | undefined> {
    const { store } = this.#producer;
    const head = await readBatch(store, place);
    if (!head || roundOf(head.value, place.round).ended || head.value.items === undefined) return undefined;
    const listen = (run: RunId) => void this.#awaited.set(run, key);
    const known = await knowBatch(store, head, { ...place, items: head.value.items, listen });
    await findBegun(this.#producer, known);
    this.#known.set(key, known);
    return known;
  }

  #heard(event: LiveEvent): void {
    if (event.type === 'batch') {
      for (const [key, { head }] of this.#known) if (head.value.batch === event.batch) this.#changed(key);
      return void this.#wakeNew(event);
    }
    if (event.type !== 'status' || event.status !== 'finished') return;
    const key = this.#awaited.get(event.run);
    if (key === undefined) return;
    this.#awaited.delete(event.run);
    this.#known.get(key)?.heard.add(event.run);
    this.#led.wake(event.tenant, key);
  }

  #changed(key: string): void {
    this.#stale.add(key);
    this.#led.wake(placeIn(key).tenant, key);
  }

  /** A round that this leader has not listed yet. */
  async #wakeNew({ tenant, batch }: { tenant: string; batch: RunId }): Promise<void> {
    const rounds = await readBatch(this.#producer.store, { tenant, batch }).catch(() => undefined);
    if (rounds) this.#led.wake(tenant, keyOf(tenant, batch, rounds.value.rounds.length - 1));
  }
}

interface Place {
  tenant: string;
  batch: RunId;
  round: number;
}

const keyOf = (tenant: string, batch: RunId, round: number) => `${tenant}/${batch}/${round}`;

function placeIn(key: string): Place {
  const [tenant = '', batch = '', round] = key.split('/');
  return { tenant, batch, round: Number(round) };
}
