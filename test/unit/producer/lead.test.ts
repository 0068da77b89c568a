import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lead, LeadLost } from '@hotcell/producer/lead.ts';

/** One office that the first who asks holds until it lapses or is given up. */
function office(clock: { ms: number }) {
  let held: { who: string; until: number } | undefined;
  const calls: string[] = [];
  return {
    calls,
    async lead(_task: string, who: string, forMs: number) {
      calls.push(who);
      if (held && held.until > clock.ms && held.who !== who) return false;
      held = { who, until: clock.ms + forMs };
      return true;
    },
    async resign(_task: string, who: string) {
      if (held?.who === who) held = undefined;
    },
  };
}

test('one leads until it resigns, or until it did not keep its lead for as long as it lasts', async () => {
  const clock = { ms: 0 };
  const leadership = office(clock);
  const of = (me: string) => new Lead(leadership, { task: 't', me, forMs: 9_000, now: () => clock.ms });
  const [a, b] = [of('a'), of('b')];
  assert.equal(await a.take(), true);
  assert.equal(await b.take(), false);
  await a.resign();
  assert.equal(await b.take(), true);
  clock.ms = 9_001;
  assert.equal(await a.take(), true);
  await assert.rejects(b.keep(), LeadLost);
  // One that never led does not go on either.
  await assert.rejects(of('c').keep(), LeadLost);
});

test('a lead is renewed when a third of it is over, by the time at which it was asked for', async () => {
  const clock = { ms: 0 };
  const leadership = office(clock);
  const slow = {
    ...leadership,
    async lead(...asked: Parameters<typeof leadership.lead>) {
      const led = await leadership.lead(...asked);
      // The answer is long on its way.
      clock.ms += 1_000;
      return led;
    },
  };
  const lead = new Lead(slow, { task: 't', me: 'a', forMs: 9_000, now: () => clock.ms });
  await lead.take();
  await lead.keep();
  clock.ms = 2_999;
  await lead.keep();
  assert.equal(leadership.calls.length, 1);
  clock.ms = 3_000;
  await lead.keep();
  assert.equal(leadership.calls.length, 2);
  await lead.keep();
  assert.equal(leadership.calls.length, 2);
});
