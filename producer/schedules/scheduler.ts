import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { LiveEvent } from '@hotcell/contract/heartbeats.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import { listHeads, readHead, tenantsWithSchedules } from '@hotcell/record/schedule-records.ts';
import { listNames } from '@hotcell/record/snapshot-name.ts';
import { Lead } from '../lead.ts';
import type { Producer } from '../producer.ts';
import { type Awaited, AwaitedNames } from './awaited-names.ts';
import { advance, type Advanced } from './advance.ts';
import { DueQueue } from './due-queue.ts';
import { know, type Known } from './known-schedule.ts';

const leadMs = 10_000;
const leadAgainMs = 1_000;
/** Changes of which no message came are found within this time. */
const listEveryMs = 15_000;
/** The end of a run that others wait for is found within this time, if no message comes. */
const endsEveryMs = 2_000;
/** The clock of the machine may be set: nothing is slept through for longer. */
const longestRestMs = 500;
const beginEveryMs = 100;
const atOnce = 16;
const firstBackoffMs = 500;
const longestBackoffMs = 30_000;

interface Entry {
  tenant: string;
  name: string;
  /** Of the version that is known. */
  etag: string;
  /** The schedule may have another version by now. */
  stale: boolean;
  known?: Known | undefined;
  /** The name whose next version it waits for. */
  awaited?: Awaited | undefined;
  /** The runs whose ends it waits for. */
  awaits: readonly RunId[];
  /** What was looked at is looked at again: something changed meanwhile. */
  again: boolean;
  busy: boolean;
  failures: number;
}

/**
 * Decides the ticks of all schedules. One producer leads and does it for all. The record drives: what is due follows from
 * schedules, tick records and the clock. Messages only wake it. What it holds in memory is read again by its successor.
 */
export class Scheduler implements AsyncDisposable {
  readonly #producer: Producer;
  readonly #lead: Lead;
  readonly #ends = new AbortController();
  readonly #entries = new Map<string, Entry>();
  readonly #due = new DueQueue();
  readonly #names = new AwaitedNames();
  /** Runs whose ends let a schedule go on. */
  readonly #awaited = new Map<RunId, string>();
  readonly #looks = new Set<Promise<void>>();
  readonly #subscribed: Promise<Disposable>;
  readonly #working: Promise<void>;
  #woken = Promise.withResolvers<void>();
  #leads = false;
  #listedAt = Number.NEGATIVE_INFINITY;
  #begunAt = Number.NEGATIVE_INFINITY;

  constructor(producer: Producer) {
    this.#producer = producer;
    this.#lead = new Lead(producer.live.leadership, { task: 'schedules', me: randomUUID(), forMs: leadMs });
    this.#subscribed = producer.live.onEvent((event) => this.#heard(event));
    this.#working = this.#work();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ends.abort();
    this.#woken.resolve();
    await this.#working;
    await Promise.all(this.#looks);
    (await this.#subscribed)[Symbol.dispose]();
    await this.#lead.resign().catch((error: unknown) => {
      this.#producer.log.info({ error }, 'failed to give up the lead of schedules; it lapses by itself');
    });
  }

  async #work(): Promise<void> {
    while (!this.#ends.signal.aborted) {
      await this.#pass().catch((error: unknown) => {
        this.#producer.log.warn({ error }, 'failed to look at the schedules; the producer tries again');
        this.#leads = false;
      });
      const restMs = this.#leads ? Math.min(longestRestMs, this.#due.nextAt() - Date.now()) : leadAgainMs;
      if (restMs > 0 || this.#looks.size >= atOnce) await this.#rest(Math.max(restMs, 0));
    }
  }

  async #pass(): Promise<void> {
    if (!(await this.#takeLead())) return;
    if (performance.now() - this.#listedAt > listEveryMs) await this.#list();
    this.#beginDue();
  }

  #beginDue(): void {
    this.#begunAt = performance.now();
    for (let key = this.#next(); key !== undefined; key = this.#next()) this.#begin(key);
  }

  /** A new leader can't know what its predecessor left, so it reads everything anew. */
  async #takeLead(): Promise<boolean> {
    if (this.#leads) {
      await this.#lead.keep();
      return true;
    }
    this.#leads = await this.#lead.take();
    if (!this.#leads) return false;
    this.#entries.clear();
    this.#due.clear();
    this.#names.clear();
    this.#awaited.clear();
    this.#listedAt = Number.NEGATIVE_INFINITY;
    return true;
  }

  async #list(): Promise<void> {
    const { store } = this.#producer;
    for await (const tenant of tenantsWithSchedules(store)) {
      for await (const { name, etag } of listHeads(store, tenant)) {
        await this.#goOn();
        if (this.#entries.get(keyOf(tenant, name))?.etag !== etag) this.#changed(tenant, name);
      }
      // One list for all schedules of a tenant that wait for names, however many they are.
      if (!this.#names.has(tenant)) continue;
      for await (const { name, etag } of listNames(store, tenant)) {
        await this.#goOn();
        for (const key of this.#names.of(tenant, name, etag)) this.#lookNow(key);
      }
    }
    this.#listedAt = performance.now();
  }

  /** A tenant may have so many names that to list them takes minutes: the ticks of all others are begun meanwhile. */
  async #goOn(): Promise<void> {
    await this.#lead.keep();
    if (performance.now() - this.#begunAt > beginEveryMs) this.#beginDue();
  }

  #heard(event: LiveEvent): void {
    if (!this.#leads) return;
    if (event.type === 'schedule') this.#changed(event.tenant, event.name);
    else if (event.type === 'published') for (const key of this.#names.of(event.tenant, event.name)) this.#lookNow(key);
    else if (event.type === 'status' && event.status === 'finished') {
      const key = this.#awaited.get(event.run);
      if (key !== undefined) this.#lookNow(key);
    }
  }

  #changed(tenant: string, name: string): void {
    const key = keyOf(tenant, name);
    const fresh = { tenant, name, etag: '', stale: true, awaits: [], again: false, busy: false, failures: 0 };
    const entry = this.#entries.get(key) ?? fresh;
    entry.stale = true;
    this.#entries.set(key, entry);
    this.#lookNow(key);
  }

  #lookNow(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    entry.again = true;
    if (!entry.busy) this.#due.put(entry.tenant, key, 0);
    this.#woken.resolve();
  }

  #next(): string | undefined {
    return this.#looks.size < atOnce && !this.#ends.signal.aborted ? this.#due.take(Date.now()) : undefined;
  }

  #begin(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    if (entry.busy) {
      // Due again before its look has ended: it comes behind it.
      entry.again = true;
      return;
    }
    entry.busy = true;
    entry.again = false;
    const look = this.#look(key, entry).finally(() => {
      entry.busy = false;
      this.#looks.delete(look);
      // A leader that was away has read everything anew meanwhile.
      if (entry.again && this.#entries.get(key) === entry) this.#due.put(entry.tenant, key, 0);
      this.#woken.resolve();
    });
    this.#looks.add(look);
  }

  async #look(key: string, entry: Entry): Promise<void> {
    try {
      if (!(await this.#read(entry)) || !entry.known) return;
      await this.#lead.keep();
      const { known } = entry;
      const advanced = await advance(this.#producer, known, Date.now());
      entry.failures = 0;
      entry.etag = known.head.etag;
      if (this.#entries.get(key) === entry) this.#plan(key, entry, known, advanced);
    } catch (error) {
      this.#retry(key, entry, error);
    }
  }

  /** False for a schedule that is gone. */
  async #read(entry: Entry): Promise<boolean> {
    if (entry.known && !entry.stale) return true;
    entry.stale = false;
    const head = await readHead(this.#producer.store, entry.tenant, entry.name);
    if (!head) return false;
    // Another writer changed it: what is known of its ticks stays true.
    const same = entry.known?.head.value.id === head.value.id;
    entry.known = same && entry.known ? { ...entry.known, head } : await know(this.#producer, head);
    entry.etag = head.etag;
    return true;
  }

  #plan(key: string, entry: Entry, { head, book }: Known, { wakeAt, awaits, awaited }: Advanced): void {
    this.#names.set(entry.tenant, key, entry.awaited, awaited);
    entry.awaited = awaited;
    const pollAt = awaits.length > 0 ? Date.now() + endsEveryMs : Number.POSITIVE_INFINITY;
    const at = Math.min(wakeAt ?? Number.POSITIVE_INFINITY, pollAt);
    if (Number.isFinite(at)) this.#due.put(entry.tenant, key, at);
    for (const run of entry.awaits) this.#awaited.delete(run);
    entry.awaits = awaits;
    for (const run of entry.awaits) this.#awaited.set(run, key);
    if (head.value.stopped?.kind === 'deleted' && book.unsettled.length === 0) delete entry.known;
  }

  #retry(key: string, entry: Entry, error: unknown): void {
    const { log } = this.#producer;
    // Another writer was faster, or what a step wrote is not known: the record says how it stands.
    entry.known = undefined;
    const lost = error instanceof PreconditionFailed;
    const afterMs = lost ? 0 : Math.min(longestBackoffMs, firstBackoffMs * 2 ** entry.failures++);
    const { tenant, name } = entry;
    const level = error instanceof HotcellError && error.retryable ? 'info' : 'error';
    if (!lost) log[level]({ schedule: name, tenant, err: error }, 'a schedule can not go on; the producer tries again');
    if (this.#entries.get(key) === entry) this.#due.put(tenant, key, Date.now() + afterMs);
  }

  async #rest(ms: number): Promise<void> {
    await Promise.race([pause(ms || longestRestMs, undefined, { ref: false }), this.#woken.promise]);
    this.#woken = Promise.withResolvers();
  }
}

const keyOf = (tenant: string, name: string) => `${tenant}/${name}`;
