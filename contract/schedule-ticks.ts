import { createHash } from 'node:crypto';
import { derivedRunId } from './derived-run-id.ts';
import type { RunId } from './names.ts';
import { versionsIn } from './published-versions.ts';
import { type CronTimes, cronTicksAfter, cronTicksBefore, parseCron } from './schedule-cron.ts';
import type { Period, ScheduleHead, TickKind, Trigger } from './schedule.ts';

const parsedCrons = new Map<string, CronTimes>();
const mostParsed = 10_000;

function timesOf({ cron, timezone }: { cron: string; timezone: string }): CronTimes {
  const key = `${timezone} ${cron}`;
  const known = parsedCrons.get(key);
  if (known) return known;
  const times = parseCron(cron, timezone);
  if (parsedCrons.size >= mostParsed) parsedCrons.clear();
  parsedCrons.set(key, times);
  return times;
}

/** The planned times after an instant, in order. */
function* timesAfter(trigger: Trigger, after: number): Generator<number, undefined> {
  if ('cron' in trigger) return yield* cronTicksAfter(timesOf(trigger), after);
  if ('onPublish' in trigger) {
    for (const { planned } of versionsIn(trigger).versions) if (planned > after) yield planned;
    return undefined;
  }
  const [every, anchor] = [trigger.everySeconds * 1000, Date.parse(trigger.anchor)];
  for (let i = Math.floor((after - anchor) / every) + 1; ; i++) yield anchor + i * every;
}

/** The planned times before an instant, from the last to the first. */
function* timesBefore(trigger: Trigger, before: number): Generator<number, undefined> {
  if ('cron' in trigger) return yield* cronTicksBefore(timesOf(trigger), before);
  if ('onPublish' in trigger) {
    for (const { planned } of versionsIn(trigger).versions.toReversed()) if (planned < before) yield planned;
    return undefined;
  }
  const [every, anchor] = [trigger.everySeconds * 1000, Date.parse(trigger.anchor)];
  for (let i = Math.ceil((before - anchor) / every) - 1; ; i--) yield anchor + i * every;
}

/** The first planned time after an instant. */
export function nextTime(trigger: Trigger, after: number): number | undefined {
  return timesAfter(trigger, after).next().value;
}

/** The last planned time before an instant. */
export function previousTime(trigger: Trigger, before: number): number | undefined {
  return timesBefore(trigger, before).next().value;
}

const endOf = ({ until }: Period) => (until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until));

/** The first tick of a schedule that is planned after an instant. */
export function nextTick({ periods }: Pick<ScheduleHead, 'periods'>, after: number): number | undefined {
  for (const period of periods) {
    const tick = nextTime(period.trigger, Math.max(after, Date.parse(period.from)));
    if (tick !== undefined && tick <= endOf(period)) return tick;
  }
  return undefined;
}

/** The newest ticks that are planned after one instant and until another, in order; `more`: there are older ones. */
export function ticksBetween(
  { periods }: Pick<ScheduleHead, 'periods'>,
  after: number,
  until: number,
  most: number,
): { ticks: number[]; more: boolean } {
  const ticks: number[] = [];
  for (const period of periods.toReversed()) {
    const from = Math.max(after, Date.parse(period.from));
    for (const tick of timesBefore(period.trigger, Math.min(until, endOf(period)) + 1)) {
      if (tick <= from) break;
      if (ticks.length >= most) return { ticks: ticks.reverse(), more: true };
      ticks.push(tick);
    }
  }
  return { ticks: ticks.reverse(), more: false };
}

/** The ticks from one instant to before another, in order. */
export function* timesFrom(trigger: Trigger, from: number, to: number): Generator<number> {
  for (const at of timesAfter(trigger, from - 1)) {
    if (at >= to) return;
    yield at;
  }
}

export function currentPeriod({ periods }: Pick<ScheduleHead, 'periods'>): Period {
  const last = periods.at(-1);
  if (!last) throw new TypeError('a schedule has at least one period');
  return last;
}

/** By how much all ticks of a schedule begin later than planned: it follows from the name, so that it is always the same. */
export function jitterMs(head: Pick<ScheduleHead, 'tenant' | 'name' | 'periods'>): number {
  const { jitterSeconds } = currentPeriod(head).rules;
  const hash = createHash('sha256').update(`${head.tenant}/${head.name}`).digest();
  return Math.floor((hash.readUInt32BE(0) / 2 ** 32) * jitterSeconds * 1000);
}

/**
 * The id of a tick's run: a UUIDv7 of the planned time whose random part follows from schedule and tick. Each
 * leader that decides the tick computes this same id.
 */
export function tickRunId(schedule: string, kind: TickKind, planned: number): RunId {
  return derivedRunId(`${schedule}/${kind}/${planned}`, planned);
}

const endOfTime = 10 ** 15;

/** What a tick is called in the record. Names sort from the newest to the oldest, so that a list begins with the newest. */
export function tickName(kind: TickKind, planned: number): string {
  const order = String(endOfTime - planned).padStart(15, '0');
  return `${order}-${new Date(planned).toISOString().replaceAll(':', '')}-${kind}`;
}

/** From the name back to the tick; undefined for a name that is none of ours. */
export function tickOfName(name: string): { kind: TickKind; planned: number } | undefined {
  const [, order, kind] = /^(\d{15})-[^-]{4}-[^-]{2}-[^-]{12,14}-(planned|asked)$/.exec(name) ?? [];
  return order === undefined ? undefined : { kind: kind as TickKind, planned: endOfTime - Number(order) };
}
