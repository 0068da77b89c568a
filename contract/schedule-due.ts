import { versionsIn } from './published-versions.ts';
import { currentPeriod, jitterMs, ticksBetween } from './schedule-ticks.ts';
import type { ScheduleHead } from './schedule.ts';

/** A tick is on time until so long after: a leader that changes or a Valkey that restarts makes no tick late. */
export const onTimeMs = 60_000;
/** Beside those that are run, so many missed ticks get a record each; all older ones share one. */
const mostMissed = 100;

export interface DueTick {
  planned: number;
  fate: 'on time' | 'late' | 'missed';
  reason: string;
  /** Stands for all ticks after this one, too. */
  since?: number;
}

/** The ticks that no process has decided and whose time has come, in order, and what the rule of missed ticks makes of them. */
export function dueTicks(head: ScheduleHead, decidedUntil: number, now: number): DueTick[] {
  const { rules } = currentPeriod(head);
  const jitter = jitterMs(head);
  const most = rules.catchUp + mostMissed;
  const { ticks, more } = ticksBetween(head, decidedUntil, now - jitter, most);
  const lateBy = (planned: number) => now - planned - jitter;
  const late = ticks.filter((planned) => lateBy(planned) > onTimeMs);
  const inTime = ticks.length - late.length;
  const caughtUp = { skip: 0, once: inTime > 0 ? 0 : 1, all: rules.catchUp }[rules.missed];
  const firstRun = late.length - caughtUp;
  const deadline = (rules.deadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  const due = ticks.map((planned, i): DueTick => {
    if (lateBy(planned) > deadline) return { planned, fate: 'missed', reason: pastDeadline(rules.deadlineSeconds) };
    if (i >= late.length) return { planned, fate: 'on time', reason: '' };
    return i < firstRun
      ? { planned, fate: 'missed', reason: missedBy(rules.missed) }
      : { planned, fate: 'late', reason: 'Caught up: no producer could decide it in its time.' };
  });
  due.push(...forgotten(head, decidedUntil));
  const [oldest, ...rest] = due;
  if (!more || !oldest) return due;
  const since = Math.max(decidedUntil, Date.parse(head.periods[0]?.from ?? head.createdAt));
  const reason = `${missedBy(rules.missed)} All ticks after ${new Date(since).toISOString()} until this one were missed.`;
  return [{ ...oldest, fate: 'missed', reason, since }, ...rest];
}

/** Versions that a name's history dropped before any leader decided them: the newest stands for those before it. */
function forgotten(head: ScheduleHead, decidedUntil: number): DueTick[] {
  return head.periods.flatMap(({ trigger, from, until }) => {
    const { forgottenUntil: planned = Number.NEGATIVE_INFINITY } = versionsIn(trigger);
    const since = Math.max(decidedUntil, Date.parse(from));
    if (planned <= since || planned > Date.parse(until ?? '9999-12-31')) return [];
    const reason = `The history of the name has dropped this version, and perhaps others after ${new Date(since).toISOString()}: more were published than it keeps before a producer could decide them.`;
    return [{ planned, fate: 'missed' as const, reason, since }];
  });
}

export function pastDeadline(seconds: number | undefined): string {
  return `It had not begun ${seconds} s after its time, which is the deadline of the schedule.`;
}

function missedBy(rule: string): string {
  return `No producer could decide it within ${onTimeMs / 1000} s of its time, and the rule for missed ticks is ${rule}.`;
}
