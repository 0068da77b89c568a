import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScheduleHead, Trigger } from '@hotcell/contract/schedule.ts';
import { newBackfill, tickCounter } from '@hotcell/producer/schedules/ask-backfill.ts';
import { cpuMicros } from '../../../support/stall.ts';

const now = Date.UTC(2026, 5, 1);
const begin = new Date(Date.UTC(2026, 4, 1)).toISOString();
const backfillOf = (days: number) => {
  const to = new Date(Date.parse(begin) + days * 86_400_000).toISOString();
  return newBackfill({ from: begin, to, parallel: 1 }, 'key', now);
};

/** As it is read again for each try. */
const headOf = (trigger: Trigger) => ({ periods: [{ number: 1, from: begin, trigger }] }) as unknown as ScheduleHead;
const cron = (expression: string) => headOf({ cron: expression, timezone: 'Europe/Berlin' });

test('the ticks of a backfill are counted once for all tries, and anew when the trigger changed', () => {
  const count = tickCounter(backfillOf(6));
  const cpuOf = (work: () => void) => {
    const before = cpuMicros();
    work();
    return cpuMicros() - before;
  };
  const tries = 40;
  const anew = cpuOf(() => {
    for (let n = 0; n < tries; n++) assert.equal(tickCounter(backfillOf(6))(cron('* * * * *')), 6 * 1_440);
  });
  count(cron('* * * * *'));
  const again = cpuOf(() => {
    for (let n = 0; n < tries; n++) assert.equal(count(cron('* * * * *')), 6 * 1_440);
  });
  assert.ok(again < anew / 2, `${tries} tries took ${again} µs, and ${anew} µs when each counts anew`);
  assert.equal(count(cron('0 * * * *')), 6 * 24);
  assert.equal(count(headOf({ everySeconds: 7_200, anchor: begin })), 6 * 12);
});

test('a backfill of too many ticks is refused, whatever was counted before', () => {
  const count = tickCounter(backfillOf(7));
  assert.equal(count(cron('*/2 * * * *')), 7 * 720);
  assert.throws(() => count(cron('* * * * *')), {
    code: 'invalid',
    message: /^to: is too far from "from".* 10000 ticks/,
  });
});
