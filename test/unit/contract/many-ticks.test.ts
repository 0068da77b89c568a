import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dayMs } from '@hotcell/contract/day-length.ts';
import { nextTime, previousTime, ticksBetween, timesFrom } from '@hotcell/contract/schedule-ticks.ts';
import type { Trigger } from '@hotcell/contract/schedule.ts';
import { growsNoFaster } from '../../support/growth.ts';

const begin = Date.UTC(2026, 2, 20);
/** Clocks are set forward in these days. */
const end = begin + 20 * dayMs;

const periodsOf = (trigger: Trigger) => {
  const from = new Date(begin).toISOString();
  return { periods: [{ number: 1, from, trigger }] } as unknown as Parameters<typeof ticksBetween>[0];
};

describe('the time to list ticks grows with their number and no faster', () => {
  const make = (hours: number): Trigger => ({ cron: `* 0-${hours - 1} * * *`, timezone: 'Europe/Berlin' });
  test('in order', () =>
    growsNoFaster({ size: 4, make, read: (trigger: Trigger) => [...timesFrom(trigger, begin, end)] }));
  test('from the newest', () =>
    growsNoFaster({
      size: 4,
      make,
      read: (trigger: Trigger) => ticksBetween(periodsOf(trigger), begin, end, 100_000),
    }));
});

const triggers: Trigger[] = [
  { cron: '*/7 * * * *', timezone: 'Europe/Berlin' },
  { cron: '15,45 0-3 * * *', timezone: 'Europe/Berlin' },
  { cron: '30 0 * * 5', timezone: 'Africa/Cairo' },
  { cron: '0 0 1 4 *', timezone: 'UTC' },
  { cron: '0 0 31 2,4 *', timezone: 'UTC' },
  { everySeconds: 4_001, anchor: new Date(begin + 17_000).toISOString() },
  { everySeconds: 86_400, anchor: new Date(end + 17_000).toISOString() },
];

test('ticks that are listed are those that come one after the other, in either direction', () => {
  for (const trigger of triggers) {
    const forward: number[] = [];
    for (let at = nextTime(trigger, begin); at !== undefined && at <= end; at = nextTime(trigger, at)) forward.push(at);
    const back: number[] = [];
    for (let at = previousTime(trigger, end + 1); at !== undefined && at > begin; at = previousTime(trigger, at))
      back.unshift(at);
    const what = JSON.stringify(trigger);
    assert.deepEqual([...timesFrom(trigger, begin + 1, end + 1)], forward, what);
    assert.deepEqual(ticksBetween(periodsOf(trigger), begin, end, 100_000), { ticks: forward, more: false }, what);
    assert.deepEqual(back, forward, what);
    const newest = ticksBetween(periodsOf(trigger), begin, end, 3);
    assert.deepEqual(newest, { ticks: forward.slice(-3), more: forward.length > 3 }, what);
  }
});

test('dates on which clocks skip a day share one moment, and it is listed once', () => {
  const apia: Trigger = { cron: '0 0,12 * * *', timezone: 'Pacific/Apia' };
  const [from, to] = [Date.parse('2011-12-29T10:00:00Z'), Date.parse('2011-12-31T10:00:00Z')];
  const listed = [...timesFrom(apia, from, to)].map((at) => new Date(at).toISOString().slice(0, 13));
  assert.deepEqual(listed, ['2011-12-29T10', '2011-12-29T22', '2011-12-30T10', '2011-12-30T22']);
});
