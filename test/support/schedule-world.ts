import type { Outcome } from '@hotcell/contract/outcomes.ts';
import { decide } from '@hotcell/contract/schedule-decide.ts';
import { type PublishedVersion, withVersions } from '@hotcell/contract/published-versions.ts';
import { tickName, ticksBetween } from '@hotcell/contract/schedule-ticks.ts';
import type { ScheduleHead, ScheduleRules, TickRecord, Trigger } from '@hotcell/contract/schedule.ts';
import { begin, paused, resumed } from '@hotcell/producer/schedules/change-schedule.ts';
import { enter, readBook, settle, type TickBook, type TickSource } from '@hotcell/producer/schedules/tick-book.ts';
import { nameOfTick, type StoredTick } from '@hotcell/record/tick-records.ts';

export const usualRules: ScheduleRules = { overlap: 'skip', missed: 'once', catchUp: 10, jitterSeconds: 0 };

interface SimulatedRun {
  tick: TickRecord;
  beganAt: number;
  endsAt: number;
  outcome: Outcome;
}

/** How the next run goes. */
export interface Fate {
  lastsMs: number;
  outcome: Outcome;
}

/** A record in memory, and leaders that decide the ticks of one schedule in it and die where they are told to. */
export class ScheduleWorld {
  head: ScheduleHead;
  now: number;
  readonly ticks = new Map<string, StoredTick>();
  readonly runs = new Map<string, SimulatedRun>();
  /** What was published under the name `x`. */
  readonly versions: PublishedVersion[] = [];
  /** The most runs that went on at a moment. */
  mostAtOnce = 0;
  #book: TickBook | undefined;
  #etags = 0;
  readonly #fate: () => Fate;

  constructor(trigger: Trigger, rules: ScheduleRules, now: number, fate: () => Fate) {
    const createdAt = new Date(now).toISOString();
    const id = '00000000-0000-4000-8000-000000000000';
    const bare = { version: 1 as const, tenant: 't', name: 's', id, key: 'k', createdAt, periods: [], asked: [] };
    this.head = begin(bare, { number: 1, trigger, rules }, now);
    this.now = now;
    this.#fate = fate;
  }

  /** As it is decided: with the versions that its ticks are for. */
  get planning(): ScheduleHead {
    return withVersions(this.head, new Map([['x', { versions: this.versions }]]));
  }

  publish(): void {
    const last = this.versions.at(-1);
    const planned = Math.max(this.now, (last?.planned ?? 0) + 1);
    const number = this.versions.length + 1;
    const previous = last ? new Date(last.planned).toISOString() : null;
    const snapshot = `sha256:${String(number).padStart(64, '0')}` as const;
    const at = new Date(planned).toISOString();
    this.versions.push({ name: 'x', snapshot, number, at, by: 'b', previous, planned });
  }

  pause(): void {
    if (!this.head.stopped) this.head = paused(this.head, { by: 'b', reason: 'r' }, this.now);
  }

  resume(): void {
    if (this.head.stopped) this.head = resumed(this.head, this.now);
  }

  ask(): void {
    const at = new Date(this.now).toISOString();
    if (!this.head.asked.some((one) => one.at === at))
      this.head = { ...this.head, asked: [...this.head.asked, { at, by: 'b' }] };
  }

  change(trigger: Trigger, rules: ScheduleRules): void {
    const number = (this.head.periods.at(-1)?.number ?? 0) + 1;
    const changed = begin(this.head, { number, trigger, rules }, this.now);
    this.head = this.head.stopped
      ? { ...changed, periods: changed.periods.map((period) => ({ ...period, until: period.until ?? period.from })) }
      : changed;
  }

  /** A leader decides, and dies after so many writes. Its successor knows only the record. */
  async lead(writes = Number.POSITIVE_INFINITY): Promise<void> {
    const source = this.#source();
    this.#book ??= await readBook(this.head, source);
    const book = this.#book;
    await settle(this.head, book, source);
    const asked = this.head.asked
      .map(({ at }) => Date.parse(at))
      .filter((at) => !this.ticks.has(tickName('asked', at)));
    const unsettled = book.unsettled.map(({ stored, begun }) => ({ tick: stored.value, begun }));
    const { steps } = decide(
      { head: this.planning, decidedUntil: book.decidedUntil, failures: book.failures, unsettled, asked },
      this.now,
    );
    for (const [i, step] of steps.entries()) {
      if (i >= writes) {
        this.#book = undefined;
        return;
      }
      if (step.do === 'pause') this.head = paused(this.head, { by: 'Hotcell', reason: step.reason }, this.now);
      else if (step.do === 'cancel') this.#cancel(step.tick);
      else if (step.do === 'start') this.#start(step.tick, book);
      else enter(book, this.#put(step.tick, step.do === 'change'));
    }
    this.head = { ...this.head, asked: [] };
  }

  #put(tick: TickRecord, replaces: boolean): StoredTick {
    const name = nameOfTick(tick);
    if (this.ticks.has(name) !== replaces) throw new Error(`${name} is decided twice`);
    const planned = Date.parse(tick.planned);
    if (
      tick.kind === 'planned' &&
      !replaces &&
      ticksBetween(this.planning, planned - 1, planned, 1).ticks[0] !== planned
    )
      throw new Error(`${name} was never planned`);
    const stored = { value: tick, etag: String(this.#etags++) };
    this.ticks.set(name, stored);
    return stored;
  }

  #start(tick: TickRecord, book: TickBook): void {
    const entry = book.unsettled.find(({ stored }) => stored.value.run === tick.run);
    if (entry) entry.begun = true;
    if (this.runs.has(tick.run)) return;
    const { lastsMs, outcome } = this.#fate();
    this.runs.set(tick.run, { tick, beganAt: this.now, endsAt: this.now + lastsMs, outcome });
    const atOnce = [...this.runs.values()].slice(-10).filter(({ endsAt }) => endsAt > this.now).length;
    this.mostAtOnce = Math.max(this.mostAtOnce, atOnce);
  }

  #cancel(tick: TickRecord): void {
    const run = this.runs.get(tick.run);
    if (run && run.endsAt > this.now) this.runs.set(tick.run, { ...run, endsAt: this.now, outcome: 'cancelled' });
  }

  #source(): TickSource {
    const { ticks } = this;
    return {
      names: async function* () {
        yield* [...ticks.keys()].toSorted();
      },
      read: async (name) => this.ticks.get(name),
      stateOf: async (id) => {
        const run = this.runs.get(id);
        return run && (run.endsAt > this.now ? 'open' : run.outcome);
      },
    };
  }
}
