import { CronExpressionParser } from 'cron-parser';
import { dayMs } from './day-length.ts';
import { HotcellError, messageOf } from './errors.ts';
import { clockDay, instantsOf, midnightShown, offsetMs } from './wall-clock.ts';

/** The times that an expression of cron names, by the clocks of a zone. */
export interface CronTimes {
  zone: string;
  /** Minutes of a day, in order. */
  minutes: readonly number[];
  days: ReadonlySet<number>;
  months: ReadonlySet<number>;
  weekdays: ReadonlySet<number>;
  /** With a day of the month and a weekday, either of them is enough, as in every cron. */
  eitherDay: boolean;
  /** Its minutes or hours begin with a star: its ticks follow the clock as it is, also when the clock is set. */
  followsClock: boolean;
}

/** From one 29 February to the next, across a year like 2100. */
const mostDays = 8 * 366;
const longest = 128;

const named: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};
const names = new Set('jan feb mar apr may jun jul aug sep oct nov dec sun mon tue wed thu fri sat'.split(' '));

function invalid(message: string, cause?: unknown): HotcellError {
  return new HotcellError('invalid', message, { cause });
}

/** Five fields or a name like @daily. What only some crons know (L, W, #, H, seconds) is refused. */
export function parseCron(expression: string, zone: string): CronTimes {
  if (expression.length > longest) throw invalid(`An expression of cron has at most ${longest} characters.`);
  const text = (named[expression.trim()] ?? expression).trim();
  const fields = text.split(/\s+/);
  if (fields.length !== 5)
    throw invalid(
      `"${expression}" has ${fields.length} fields. Write five: minute, hour, day of the month, month, weekday. For seconds use an interval.`,
    );
  const unknown = (text.match(/[^\d\s*,/-]+/g) ?? []).find((word) => !names.has(word.toLowerCase()));
  if (unknown !== undefined)
    throw invalid(`"${expression}": "${unknown}" is not known here. Use numbers, names like MON or JAN, and * , - /`);
  offsetMs(zone, 0);
  const parsed = parsedBy(expression, text);
  const minutesOf = parsed.minute.values.map(Number);
  const minutes = parsed.hour.values.flatMap((hour) => minutesOf.map((minute) => Number(hour) * 60 + minute));
  const [minute = '', hour = '', day = '', , weekday = ''] = fields;
  return {
    zone,
    minutes: minutes.toSorted((a, b) => a - b),
    days: new Set(parsed.dayOfMonth.values.map(Number)),
    months: new Set(parsed.month.values.map(Number)),
    weekdays: new Set(parsed.dayOfWeek.values.map((value) => Number(value) % 7)),
    eitherDay: !day.startsWith('*') && !weekday.startsWith('*'),
    followsClock: minute.startsWith('*') || hour.startsWith('*'),
  };
}

function parsedBy(expression: string, text: string) {
  try {
    return CronExpressionParser.parse(text, { tz: 'UTC' }).fields;
  } catch (cause) {
    throw invalid(`"${expression}" is not an expression of cron: ${messageOf(cause)}.`, cause);
  }
}

/** All ticks after an instant, in order, until none comes for eight years. The ticks of a date are found once. */
export function* cronTicksAfter(times: CronTimes, after: number): Generator<number, undefined> {
  let last = after;
  let midnight = midnightShown(times.zone, after);
  for (let without = 0; without <= mostDays; without++, midnight += dayMs)
    for (const tick of ticksOfDate(times, midnight)) {
      // A skipped time may come at the same moment as the first of the next date.
      if (tick <= last) continue;
      yield (last = tick);
      without = 0;
    }
}

/** All ticks before an instant, from the last to the first. */
export function* cronTicksBefore(times: CronTimes, before: number): Generator<number, undefined> {
  let last = before;
  // A time that the clocks skip belongs to the date before or after, so one date more is looked at.
  let midnight = midnightShown(times.zone, before) + dayMs;
  for (let without = 0; without <= mostDays; without++, midnight -= dayMs)
    for (const tick of ticksOfDate(times, midnight).toReversed()) {
      if (tick >= last) continue;
      yield (last = tick);
      without = 0;
    }
}

/**
 * The ticks of a date, in order. Where clocks are set forward, ticks of skipped times come together at the first moment
 * after; where they are set back, ticks of times that are shown twice come at the first. Ticks that follow the clock
 * leave out what is skipped and come twice, as the clock shows them.
 */
function ticksOfDate(times: CronTimes, midnight: number): number[] {
  if (!isDayOf(times, new Date(midnight))) return [];
  const day = clockDay(times.zone, midnight);
  const ticks = new Set<number>();
  for (const minute of times.minutes) {
    const instants = instantsOf(day, midnight + minute * 60_000);
    if (times.followsClock) for (const instant of instants) ticks.add(instant);
    else ticks.add(instants[0] ?? day.setAt);
  }
  return day.before === day.after ? [...ticks] : [...ticks].toSorted((a, b) => a - b);
}

function isDayOf({ days, months, weekdays, eitherDay }: CronTimes, date: Date): boolean {
  if (!months.has(date.getUTCMonth() + 1)) return false;
  const [day, weekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())];
  return eitherDay ? day || weekday : day && weekday;
}
