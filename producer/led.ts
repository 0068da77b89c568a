import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import { Lead } from './lead.ts';
import type { Producer } from './producer.ts';
import { DueQueue } from './schedules/due-queue.ts';

const leadMs = 10_000;
const leadAgainMs = 1_000;
/** The clock of the machine may be set: nothing is slept through for longer. */
const longestRestMs = 500;
const firstBackoffMs = 500;
const longestBackoffMs = 30_000;
/** One tenant's slow looks leave room for those of others. */
const atOnceForOne = 4;
/** What is due is of tenants that have as many looks as they may: the end of one wakes the leader sooner. */
const heldMs = 50;

/** Work of which one producer does all: the record says what there is, and how far it is. */
export interface LedTask {
  readonly name: string;
  /** All that there is to do. */
  list(): AsyncIterable<{ tenant: string; key: string }>;
  /** One step further. Answers when to look again; undefined when there is no more to do. */
  look(key: string, keep: () => Promise<void>): Promise<number | undefined>;
  /** What is held in memory may be wrong: the record is read again. */
  forget(key: string): void;
}

interface Pace {
  /** All that there is to do is listed so often. */
  listEveryMs: number;
  /** So many looks are under way at once. */
  atOnce: number;
}
const usualPace: Pace = { listEveryMs: 15_000, atOnce: 16 };

interface Entry {
  tenant: string;
  busy: boolean;
  /** What was looked at is looked at again: something changed meanwhile. */
  again: boolean;
  failures: number;
}

/** Leads a task, one tenant's turn after the other's. What a leader knows in memory, its successor reads anew. */
export class Led implements AsyncDisposable {
  readonly #deps: Pick<Producer, 'log' | 'live'>;
  readonly #task: LedTask;
  readonly #lead: Lead;
  readonly #pace: Pace;
  readonly #ends = new AbortController();
  readonly #entries = new Map<string, Entry>();
  readonly #due = new DueQueue();
  readonly #looks = new Set<Promise<void>>();
  /** How many of them each tenant has. */
  readonly #of = new Map<string, number>();
  readonly #working: Promise<void>;
  #woken = Promise.withResolvers<void>();
  #leads = false;
  #listedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: Pick<Producer, 'log' | 'live'>, task: LedTask, pace: Partial<Pace> = {}) {
    this.#pace = { ...usualPace, ...pace };
    this.#deps = deps;
    this.#task = task;
    this.#lead = new Lead(deps.live.leadership, { task: task.name, me: randomUUID(), forMs: leadMs });
    this.#working = this.#work();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ends.abort();
    this.#woken.resolve();
    await this.#working;
    await Promise.all(this.#looks);
    await this.#lead.resign().catch((error: unknown) => {
      this.#deps.log.info({ error, task: this.#task.name }, 'failed to give up a lead; it lapses by itself');
    });
  }

  /** Something changed: looks at it now, if this process leads. */
  wake(tenant: string, key: string): void {
    if (!this.#leads) return;
    const entry = this.#entries.get(key) ?? { tenant, busy: false, again: false, failures: 0 };
    this.#entries.set(key, entry);
    if (entry.busy) entry.again = true;
    else this.#due.put(tenant, key, 0);
    this.#woken.resolve();
  }

  async #work(): Promise<void> {
    while (!this.#ends.signal.aborted) {
      await this.#pass().catch((error: unknown) => {
        this.#deps.log.warn({ error, task: this.#task.name }, 'failed to lead a task; the producer tries again');
        this.#leads = false;
      });
      const restMs = this.#leads ? Math.min(longestRestMs, this.#due.nextAt() - Date.now()) : leadAgainMs;
      if (restMs > 0 || this.#looks.size >= this.#pace.atOnce) await this.#rest(Math.max(restMs, 0));
      else if (this.#looks.size > 0) await this.#rest(heldMs);
    }
  }

  async #pass(): Promise<void> {
    if (!(await this.#takeLead())) return;
    if (performance.now() - this.#listedAt > this.#pace.listEveryMs) await this.#list();
    for (let key = this.#next(); key !== undefined; key = this.#next()) this.#begin(key);
  }

  async #takeLead(): Promise<boolean> {
    if (this.#leads) {
      await this.#lead.keep();
      return true;
    }
    this.#leads = await this.#lead.take();
    if (!this.#leads) return false;
    for (const key of this.#entries.keys()) this.#task.forget(key);
    this.#entries.clear();
    this.#due.clear();
    this.#listedAt = Number.NEGATIVE_INFINITY;
    return true;
  }

  async #list(): Promise<void> {
    for await (const { tenant, key } of this.#task.list()) {
      await this.#lead.keep();
      if (!this.#entries.has(key)) this.wake(tenant, key);
    }
    this.#listedAt = performance.now();
  }

  #next(): string | undefined {
    if (this.#looks.size >= this.#pace.atOnce || this.#ends.signal.aborted) return undefined;
    return this.#due.take(Date.now(), (tenant) => (this.#of.get(tenant) ?? 0) < atOnceForOne);
  }

  #begin(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    entry.again = entry.busy;
    if (entry.busy) return;
    entry.busy = true;
    this.#count(entry.tenant, 1);
    const look = this.#look(key, entry).finally(() => {
      entry.busy = false;
      this.#looks.delete(look);
      this.#count(entry.tenant, -1);
      // A leader that was away has read everything anew meanwhile.
      if (entry.again && this.#entries.get(key) === entry) this.#due.put(entry.tenant, key, 0);
      this.#woken.resolve();
    });
    this.#looks.add(look);
  }

  #count(tenant: string, by: 1 | -1): void {
    const looks = (this.#of.get(tenant) ?? 0) + by;
    if (looks > 0) this.#of.set(tenant, looks);
    else this.#of.delete(tenant);
  }

  async #look(key: string, entry: Entry): Promise<void> {
    let at: number | undefined;
    try {
      await this.#lead.keep();
      at = await this.#task.look(key, () => this.#lead.keep());
      entry.failures = 0;
    } catch (error) {
      at = this.#retryAt(key, entry, error);
    }
    if (this.#entries.get(key) !== entry) this.#task.forget(key);
    else if (at !== undefined) this.#due.put(entry.tenant, key, at);
    else if (!entry.again) this.#entries.delete(key);
  }

  #retryAt(key: string, entry: Entry, error: unknown): number {
    const { log } = this.#deps;
    // Another writer was faster, or what a step wrote is not known: the record says how it stands.
    this.#task.forget(key);
    if (error instanceof PreconditionFailed) return 0;
    const level = error instanceof HotcellError && error.retryable ? 'info' : 'error';
    log[level]({ key, task: this.#task.name, err: error }, 'can not go on; the producer tries again');
    return Date.now() + Math.min(longestBackoffMs, firstBackoffMs * 2 ** entry.failures++);
  }

  async #rest(ms: number): Promise<void> {
    await Promise.race([pause(ms || longestRestMs, undefined, { ref: false }), this.#woken.promise]);
    this.#woken = Promise.withResolvers();
  }
}
