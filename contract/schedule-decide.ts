import { publicationAt } from './published-versions.ts';
import { dueTicks, pastDeadline } from './schedule-due.ts';
import { currentPeriod, jitterMs, nextTick, tickName, tickRunId } from './schedule-ticks.ts';
import type { ScheduleHead, TickKind, TickRecord } from './schedule.ts';

/** All that is known of a schedule when its ticks are decided. */
export interface Standing {
  head: ScheduleHead;
  /** The newest planned tick that has a record: all before it have one, too. */
  decidedUntil: number;
  /** Ticks whose runs go on and ticks that wait, the oldest first. `begun`: its run is accepted. */
  unsettled: readonly { tick: TickRecord; begun: boolean }[];
  /** How many runs in a row did not succeed. */
  failures: number;
  /** Ticks that callers asked for and that have no record. */
  asked: readonly number[];
  /** Why the key that made the schedule may run nothing any more. */
  keyRefused?: string | undefined;
}

export type Step =
  /** Put if absent: from then on the tick is decided. */
  | { do: 'record'; tick: TickRecord }
  /** Over exactly the record that was read. */
  | { do: 'change'; tick: TickRecord }
  | { do: 'start'; tick: TickRecord }
  | { do: 'cancel'; tick: TickRecord }
  | { do: 'pause'; reason: string };

export interface Decision {
  steps: Step[];
  /** When there is something to decide again; undefined when only a run's end or a change of the schedule can bring it. */
  wakeAt: number | undefined;
  /** The end of the run that goes on matters before that. */
  awaitsEnd: boolean;
}

const mostWaiting = 100;

/** Which ticks are due and what each becomes. Pure: the same standing and time always give the same steps. */
export function decide(standing: Standing, now: number): Decision {
  const decision = new Deciding(standing, now);
  decision.stopIfTroubled();
  decision.takeDue();
  decision.beginWaiting();
  return decision.done();
}

class Deciding {
  readonly #standing: Standing;
  readonly #now: number;
  readonly #steps: Step[] = [];
  readonly #unsettled: TickRecord[];
  #decidedUntil: number;
  #stopped: string | undefined;

  constructor(standing: Standing, now: number) {
    const { head, unsettled, decidedUntil } = standing;
    this.#standing = standing;
    this.#now = now;
    this.#unsettled = unsettled.map(({ tick }) => tick);
    this.#decidedUntil = decidedUntil;
    this.#stopped =
      head.stopped && `The schedule was ${head.stopped.kind} by ${head.stopped.by}: ${head.stopped.reason}`;
    // Decided by a process that died before the run was accepted.
    for (const { tick, begun } of unsettled)
      if (tick.state === 'run' && !begun) this.#steps.push({ do: 'start', tick });
  }

  stopIfTroubled(): void {
    const { failures, keyRefused } = this.#standing;
    const most = this.#rules.pauseAfterFailures;
    const reason =
      keyRefused ??
      (most !== undefined && failures >= most
        ? `${failures} runs in a row did not succeed, and ${most} pause it.`
        : undefined);
    if (this.#stopped !== undefined || reason === undefined) return;
    this.#steps.push({ do: 'pause', reason });
    this.#stopped = `The schedule was paused by Hotcell: ${reason}`;
  }

  /** In the order of their times, so that a record never stands behind a younger one. */
  takeDue(): void {
    const { head, decidedUntil, asked } = this.#standing;
    const planned = dueTicks(head, decidedUntil, this.#now).map((due) => ({ ...due, kind: 'planned' as const }));
    const wanted = asked.map((at) => ({ planned: at, kind: 'asked' as const, fate: 'late' as const, reason: '' }));
    for (const due of [...planned, ...wanted].toSorted((a, b) => a.planned - b.planned)) {
      if (due.kind === 'planned') this.#decidedUntil = due.planned;
      if (due.fate === 'missed') this.#record(due, { state: 'missed', since: due.since });
      else if (this.#refuses(due.kind) !== undefined)
        this.#record(due, { state: 'skipped', reason: this.#refuses(due.kind) ?? '' });
      else this.#take(due);
    }
  }

  #take(due: { kind: TickKind; planned: number; fate: string; reason: string }): void {
    const before = this.#unsettled.at(-1);
    if (!before) return this.#record(due, { state: 'run' });
    // What is caught up or asked for is not skipped for what goes on: it was meant to run in any case.
    const { overlap } = due.fate === 'late' ? { overlap: 'queue' as const } : this.#rules;
    const waits = this.#unsettled.filter(({ state }) => state === 'waiting');
    if (overlap === 'skip')
      return this.#record(due, {
        state: 'skipped',
        reason: `The tick of ${before.planned} has not ended (run ${before.run}).`,
      });
    if (overlap === 'queue' && waits.length >= mostWaiting)
      return this.#record(due, { state: 'skipped', reason: `${mostWaiting} ticks wait already.` });
    if (overlap === 'replace') {
      for (const tick of waits) this.#change(tick, 'skipped', 'A newer tick replaces it.');
      for (const tick of this.#unsettled) this.#steps.push({ do: 'cancel', tick });
    }
    this.#record(due, { state: 'waiting', reason: `It waits for the tick of ${before.planned} (run ${before.run}).` });
  }

  /** One at a time, the oldest first. */
  beginWaiting(): void {
    const { deadlineSeconds } = this.#rules;
    for (const tick of this.#unsettled.filter(({ state }) => state === 'waiting')) {
      const refused = this.#refuses(tick.kind);
      if (refused !== undefined) this.#change(tick, 'skipped', refused);
      else if (this.#now > this.#deadlineOf(tick)) this.#change(tick, 'missed', pastDeadline(deadlineSeconds));
      else if (!this.#unsettled.some(({ state }) => state === 'run')) this.#change(tick, 'run', tick.reason);
    }
  }

  done(): Decision {
    const { head } = this.#standing;
    const waits = this.#unsettled.filter(({ state }) => state === 'waiting');
    const next = nextTick(head, this.#decidedUntil);
    const times = waits.map((tick) => this.#deadlineOf(tick) + 1);
    if (next !== undefined) times.push(next + jitterMs(head));
    const wakeAt = Math.min(...times);
    return {
      steps: this.#steps,
      wakeAt: Number.isFinite(wakeAt) ? wakeAt : undefined,
      awaitsEnd: waits.length > 0 || (this.#unsettled.length > 0 && this.#rules.pauseAfterFailures !== undefined),
    };
  }

  get #rules() {
    return currentPeriod(this.#standing.head).rules;
  }

  #deadlineOf(tick: TickRecord): number {
    const { deadlineSeconds = Number.POSITIVE_INFINITY } = this.#rules;
    return tick.kind === 'asked'
      ? Number.POSITIVE_INFINITY
      : Date.parse(tick.planned) + jitterMs(this.#standing.head) + deadlineSeconds * 1000;
  }

  /** A paused schedule runs what it is asked for, so that its owner can try whether it works again. */
  #refuses(kind: TickKind): string | undefined {
    const { head, keyRefused } = this.#standing;
    return kind === 'asked' && head.stopped?.kind !== 'deleted' ? keyRefused : this.#stopped;
  }

  #record(
    due: { kind: TickKind; planned: number; reason: string },
    said: { state: TickRecord['state']; reason?: string; since?: number | undefined },
  ): void {
    const { head, failures } = this.#standing;
    const { id: schedule, tenant, name } = head;
    const before = this.#unsettled.at(-1);
    const period = head.periods.findLast(({ from }) => Date.parse(from) < due.planned) ?? currentPeriod(head);
    const { number, trigger } = due.kind === 'asked' ? currentPeriod(head) : period;
    const published = said.since === undefined ? publicationAt(trigger, due.planned) : undefined;
    const tick: TickRecord = {
      ...{ version: 1, tenant, schedule, name, kind: due.kind, planned: new Date(due.planned).toISOString() },
      ...(published && { published }),
      ...(said.since !== undefined && { since: new Date(said.since).toISOString() }),
      number,
      run: tickRunId(schedule, due.kind, due.planned),
      ...{ state: said.state, reason: said.reason ?? due.reason, at: new Date(this.#now).toISOString(), failures },
      ...(before && { behind: tickName(before.kind, Date.parse(before.planned)) }),
    };
    this.#steps.push({ do: 'record', tick });
    if (tick.state === 'run') this.#steps.push({ do: 'start', tick });
    if (tick.state === 'run' || tick.state === 'waiting') this.#unsettled.push(tick);
  }

  #change(before: TickRecord, state: TickRecord['state'], reason: string): void {
    const { failures } = this.#standing;
    const tick = { ...before, state, reason, failures, at: new Date(this.#now).toISOString() };
    this.#steps.push({ do: 'change', tick });
    const at = this.#unsettled.indexOf(before);
    if (state !== 'run') this.#unsettled.splice(at, 1);
    else {
      this.#unsettled[at] = tick;
      this.#steps.push({ do: 'start', tick });
    }
  }
}
