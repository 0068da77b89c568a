import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CronExpressionParser } from 'cron-parser';
import fc from 'fast-check';
import { type CronTimes, cronTicksAfter, cronTicksBefore, parseCron } from '@hotcell/contract/schedule-cron.ts';

const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo', 'Asia/Kolkata'];
const minuteMs = 60_000;
const [begin, end] = [Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)];

const nextCronTick = (times: CronTimes, after: number) => cronTicksAfter(times, after).next().value;
const previousCronTick = (times: CronTimes, before: number) => cronTicksBefore(times, before).next().value;

interface Shown {
  at: number;
  /** Minutes of the day, and the date, that a clock shows. */
  minute: number;
  date: string;
}

/** What a clock on the wall shows in every quarter of an hour of a year, as the platform formats it. */
function shownIn(zone: string): Shown[] {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  return Array.from({ length: (end - begin) / (15 * minuteMs) }, (_, i) => {
    const at = begin + i * 15 * minuteMs;
    const [date = '', time = ''] = format.format(at).split(' ');
    const [hour = 0, minute = 0] = time.split(':').map(Number);
    return { at, minute: hour * 60 + minute, date };
  });
}

function ticksOf(expression: string, zone: string, from = begin, until = end): number[] {
  const times = parseCron(expression, zone);
  const ticks: number[] = [];
  for (let at = nextCronTick(times, from - 1); at !== undefined && at < until; at = nextCronTick(times, at))
    ticks.push(at);
  return ticks;
}

for (const zone of zones) {
  test(`hour by hour for a year, a tick of a fixed time comes once on each date: ${zone}`, () => {
    const shown = shownIn(zone);
    const dates = [...new Set(shown.map(({ date }) => date))].filter((date) => date.startsWith('2026'));
    for (let hour = 0; hour < 24; hour++) {
      const wanted = hour * 60 + 15;
      const firsts = new Map<string, number>();
      // The first quarter that shows the time, or, where it is skipped, the first that shows a later one.
      for (const { at, minute, date } of shown) if (minute >= wanted && !firsts.has(date)) firsts.set(date, at);
      // Of the first date, not all of it is in this year of UTC.
      const expected = dates.slice(1).flatMap((date) => firsts.get(date) ?? []);
      const ticks = ticksOf(`15 ${hour} * * *`, zone).filter((at) => at >= (expected[0] ?? 0));
      assert.ok(expected.length >= 363);
      assert.deepEqual(ticks.slice(0, expected.length), expected, `${hour}:15`);
    }
  });

  test(`hour by hour for a year, ticks with a star come whenever the clock shows them: ${zone}`, () => {
    const shown = shownIn(zone);
    const quarters = shown.filter(({ minute }) => minute % 15 === 0).map(({ at }) => at);
    assert.deepEqual(ticksOf('*/15 * * * *', zone), quarters);
    for (let hour = 0; hour < 24; hour++) {
      const expected = shown.filter(({ minute }) => Math.floor(minute / 60) === hour).map(({ at }) => at);
      assert.deepEqual(ticksOf(`*/15 ${hour} * * *`, zone), expected, `${hour}`);
    }
  });
}

test('the day on which clocks are set, in words: skipped times at the first moment after, doubled times at the first', () => {
  const on = (expression: string, zone: string, date: string) =>
    ticksOf(expression, zone, Date.parse(`${date}T00:00:00Z`), Date.parse(`${date}T00:00:00Z`) + 86_400_000).map((at) =>
      new Date(at).toISOString().slice(11, 16),
    );
  assert.deepEqual(on('30 2 * * *', 'Europe/Berlin', '2026-03-29'), ['01:00']);
  assert.deepEqual(on('0 2-4 * * *', 'Europe/Berlin', '2026-03-29'), ['01:00', '02:00']);
  assert.deepEqual(on('30 2 * * *', 'Europe/Berlin', '2026-10-25'), ['00:30']);
  assert.deepEqual(on('30 */2 * * *', 'Europe/Berlin', '2026-03-29'), [
    ...['02:30', '04:30', '06:30', '08:30', '10:30', '12:30', '14:30', '16:30', '18:30', '20:30', '22:30'],
  ]);
  assert.deepEqual(on('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03'), ['15:30']);
  assert.deepEqual(on('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04'), ['14:45']);
});

/** One field: a star, a step, a number, a range or a list. */
const field = (low: number, high: number) => {
  const number = fc.integer({ min: low, max: high });
  const range = fc.tuple(number, number).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const list = fc.uniqueArray(number, { minLength: 1, maxLength: 4 }).map((some) => some.join(','));
  return fc.oneof(
    fc.constant('*'),
    fc.integer({ min: 1, max: 20 }).map((step) => `*/${step}`),
    range,
    list,
  );
};
/** A day of the month and a weekday with a step: whether both count or either, every cron says otherwise. */
const days = fc.tuple(field(1, 28), field(0, 6)).filter((two) => !two.some((one) => one.startsWith('*/')));
const expressions = fc
  .tuple(field(0, 59), field(0, 23), days, field(1, 12))
  .map(([minute, hour, [day, weekday], month]) => [minute, hour, day, month, weekday].join(' '));
const instants = fc.integer({ min: begin, max: end });

test('where clocks are never set, ticks are those of cron-parser', () => {
  fc.assert(
    fc.property(expressions, instants, fc.constantFrom('UTC', 'Asia/Kolkata'), (expression, from, tz) => {
      const library = CronExpressionParser.parse(expression, { tz, currentDate: new Date(from) });
      const times = parseCron(expression, tz);
      for (let at = from, i = 0; i < 5; i++) {
        const next = nextCronTick(times, at);
        assert.equal(next, library.next().getTime());
        at = next ?? 0;
      }
    }),
    { numRuns: 300 },
  );
});

test('the tick before the next one is the last one, in every zone and also where clocks are set', () => {
  fc.assert(
    fc.property(expressions, instants, fc.constantFrom(...zones), (expression, from, zone) => {
      const times = parseCron(expression, zone);
      const next = nextCronTick(times, from);
      assert.ok(next !== undefined && next > from);
      const previous = previousCronTick(times, next);
      assert.ok(previous !== undefined && previous <= from);
      assert.equal(nextCronTick(times, previous), next);
    }),
    { numRuns: 300 },
  );
});

test('a date that never comes has no tick, and 29 February is found across 2100', () => {
  assert.equal(nextCronTick(parseCron('0 0 31 2,4 *', 'UTC'), begin), undefined);
  assert.equal(nextCronTick(parseCron('0 0 29 2 *', 'UTC'), Date.UTC(2096, 2, 1)), Date.UTC(2104, 1, 29));
});

test('an expression that is no cron of five fields is refused with what to write', () => {
  const refused = (expression: string, message: RegExp, zone = 'UTC') =>
    assert.throws(() => parseCron(expression, zone), { code: 'invalid', message });
  refused('', /has 1 fields\. Write five/);
  refused('0 0 1 1 * *', /has 6 fields\. Write five: minute, hour/);
  refused('H * * * *', /"H" is not known here/);
  refused('0 0 L * *', /"L" is not known here/);
  refused('0 0 * * 1#3', /"#" is not known here/);
  refused('60 * * * *', /"60 \* \* \* \*" is not an expression of cron/);
  refused('0 0 * * *', /Mars\/Base is not a time zone/, 'Mars/Base');
  refused('* '.repeat(100), /at most 128 characters/);
  assert.equal(nextCronTick(parseCron('@daily', 'UTC'), begin), begin + 86_400_000);
  assert.equal(nextCronTick(parseCron('0 9 * JAN MON-FRI', 'UTC'), begin), begin + 9 * 3_600_000);
});
