import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '@hotcell/contract/outcomes.ts';
import { onTimeMs } from '@hotcell/contract/schedule-due.ts';
import { jitterMs, tickName, tickOfName, tickRunId, ticksBetween } from '@hotcell/contract/schedule-ticks.ts';
import { timeOf } from '@hotcell/contract/names.ts';
import { mostPeriods, type ScheduleRules, type TickRecord, type Trigger } from '@hotcell/contract/schedule.ts';
import fc from 'fast-check';
import { type Fate, ScheduleWorld, usualRules } from '../../../support/schedule-world.ts';

const begin = Date.UTC(2026, 0, 1);
const minute = 60_000;
const hour = 60 * minute;
const quick: Fate = { lastsMs: 1_000, outcome: 'succeeded' };
const everyMinute: Trigger = { everySeconds: 60, anchor: new Date(begin).toISOString() };

const records = (world: ScheduleWorld) => [...world.ticks.values()].map(({ value }) => value);
const oldestFirst = (world: ScheduleWorld) => records(world).toSorted((a, b) => a.planned.localeCompare(b.planned));
const states = (world: ScheduleWorld) => oldestFirst(world).map(({ state }) => state);

/** Whatever happened: each tick that was due has exactly one record, and each run belongs to one tick. */
function holds(world: ScheduleWorld, decidedAt: number): void {
  const { planning: head } = world;
  const due = ticksBetween(head, 0, decidedAt - jitterMs(head), 100_000).ticks;
  const all = records(world).filter(({ kind }) => kind === 'planned');
  const single = new Set(all.map(({ planned }) => Date.parse(planned)));
  const ranges = all.filter(({ since }) => since !== undefined);
  const inRange = (at: number) =>
    ranges.some(({ since = '', planned }) => Date.parse(since) < at && at <= Date.parse(planned));
  const missing = due.filter((at) => !single.has(at) && !inRange(at));
  assert.deepEqual(missing, [], 'ticks without a record');
  for (const [id, { tick }] of world.runs) {
    const stored = world.ticks.get(tickName(tick.kind, Date.parse(tick.planned)))?.value;
    assert.equal(stored?.run, id);
    assert.equal(stored.state, 'run', 'a run whose tick says otherwise');
  }
  const decided = records(world).filter(({ state }) => state === 'run');
  assert.deepEqual(
    decided.filter(({ run }) => !world.runs.has(run)),
    [],
    'ticks without their run',
  );
  assert.ok(world.mostAtOnce <= 1, 'two runs at once');
}

test('a year of hourly ticks in Berlin: one run for each, whichever leaders die and however the runs end', async () => {
  let seed = 1;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const fate = (): Fate => ({ lastsMs: random() * 25 * minute, outcome: random() < 0.1 ? 'failed' : 'succeeded' });
  const trigger: Trigger = { cron: '0 * * * *', timezone: 'Europe/Berlin' };
  const world = new ScheduleWorld(trigger, usualRules, begin, fate);
  for (; world.now < begin + 365 * 24 * hour; world.now += 30_000 + random() * 29 * minute) {
    const dies = random() < 0.1;
    await world.lead(dies ? Math.floor(random() * 3) : undefined);
    if (dies) await world.lead();
    // Its time comes within the minute that counts as on time.
    const toHour = hour - (world.now % hour);
    if (toHour < 29 * minute) world.now += toHour - 30_000;
  }
  const decidedAt = world.now;
  await world.lead();
  holds(world, decidedAt);
  const missed = records(world).filter(({ state }) => state !== 'run');
  assert.deepEqual(missed, []);
  assert.equal(world.runs.size, ticksBetween(world.head, begin, decidedAt, 10_000).ticks.length);
  assert.ok(world.runs.size > 8_700);
});

const outcomes: Outcome[] = ['succeeded', 'failed', 'cancelled', 'rejected'];
const rules = fc.record<ScheduleRules>({
  overlap: fc.constantFrom('skip', 'queue', 'replace'),
  missed: fc.constantFrom('skip', 'once', 'all'),
  catchUp: fc.integer({ min: 1, max: 5 }),
  jitterSeconds: fc.constantFrom(0, 0, 45, 600),
  deadlineSeconds: fc.constantFrom(undefined, 30, 600),
  pauseAfterFailures: fc.constantFrom(undefined, 2),
});
const triggers = fc.constantFrom<Trigger>(
  everyMinute,
  { everySeconds: 7, anchor: new Date(begin + 3_000).toISOString() },
  { cron: '*/5 * * * *', timezone: 'UTC' },
  { cron: '30 0,1 * * *', timezone: 'Europe/Berlin' },
  { onPublish: 'x' },
);
const waits = fc.oneof(
  fc.integer({ min: 0, max: 20_000 }),
  fc.integer({ min: 0, max: 10 * minute }),
  fc.constant(5 * hour),
);
const deeds = fc.oneof(
  { weight: 10, arbitrary: fc.constant({ do: 'lead' as const }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 4 }).map((writes) => ({ do: 'die' as const, writes })) },
  { weight: 3, arbitrary: fc.constant({ do: 'publish' as const }) },
  fc.constant({ do: 'pause' as const }),
  fc.constant({ do: 'resume' as const }),
  fc.constant({ do: 'ask' as const }),
  fc.record({ do: fc.constant('change' as const), trigger: triggers, rules }),
  fc.integer({ min: 1, max: 10 * minute }).map((ms) => ({ do: 'set the clock back' as const, ms })),
);
const fates = fc.record({ lastsMs: fc.integer({ min: 0, max: 10 * minute }), outcome: fc.constantFrom(...outcomes) });

test('whatever happens to leaders, runs, clocks and the schedule, each tick is decided once and has at most one run', async () => {
  const happening = fc.array(fc.tuple(waits, deeds), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(
      triggers,
      rules,
      happening,
      fc.array(fates, { minLength: 1 }),
      async (trigger, first, all, some) => {
        let next = 0;
        const world = new ScheduleWorld(trigger, first, begin, () => some[next++ % some.length] ?? quick);
        let latest = begin;
        let periods = 1;
        for (const [ms, deed] of all) {
          // Ticks of periods that are forgotten can't be compared, and what was decided before a clock was set back stays so.
          if (['resume', 'change'].includes(deed.do) && (world.now < latest || ++periods > mostPeriods)) continue;
          world.now += ms;
          latest = Math.max(latest, world.now);
          if (deed.do === 'lead') await world.lead();
          if (deed.do === 'die') await world.lead(deed.writes);
          if (deed.do === 'publish') world.publish();
          if (deed.do === 'pause') world.pause();
          if (deed.do === 'resume') world.resume();
          if (deed.do === 'ask') world.ask();
          if (deed.do === 'change') world.change(deed.trigger, deed.rules);
          if (deed.do === 'set the clock back') world.now -= Math.min(deed.ms, world.now - begin);
        }
        world.now = latest;
        for (let i = 0; i < 3; i++) await world.lead();
        holds(world, world.now);
      },
    ),
    { numRuns: 200 },
  );
});

async function afterOutage(given: Partial<ScheduleRules>, minutes: number): Promise<ScheduleWorld> {
  const world = new ScheduleWorld(everyMinute, { ...usualRules, ...given }, begin + 1, () => quick);
  world.now = begin + minutes * minute + onTimeMs + 1;
  await world.lead();
  for (let i = 0; i < 2 * minutes; i++) {
    world.now += 1_500;
    await world.lead();
  }
  return world;
}

test('after an outage the rule says which of the missed ticks run: none, the newest, or the newest so many', async () => {
  const hold = { deadlineSeconds: 3_600 };
  // The last tick is still on time, and one more is due while the others run.
  const skip = states(await afterOutage({ ...hold, missed: 'skip' }, 4));
  assert.deepEqual(skip.slice(0, 5), ['missed', 'missed', 'missed', 'missed', 'run']);
  const all = await afterOutage({ ...hold, missed: 'all', catchUp: 2 }, 4);
  assert.deepEqual(states(all).slice(0, 4), ['missed', 'missed', 'run', 'run']);
  const world = new ScheduleWorld({ cron: '@hourly', timezone: 'UTC' }, usualRules, begin + 1, () => quick);
  world.now = begin + 5 * hour + 10 * minute;
  await world.lead();
  assert.deepEqual(states(world), ['missed', 'missed', 'missed', 'missed', 'run']);
  assert.match(
    oldestFirst(world)[0]?.reason ?? '',
    /No producer could decide it within 60 s .* rule for missed ticks is once/,
  );
  assert.match(oldestFirst(world).at(-1)?.reason ?? '', /Caught up/);
});

test('an outage of any length leaves a bounded number of records, the oldest of which says what it stands for', async () => {
  const second: Trigger = { everySeconds: 1, anchor: new Date(begin).toISOString() };
  const world = new ScheduleWorld(second, { ...usualRules, missed: 'skip' }, begin, () => quick);
  world.now = begin + 365 * 24 * hour;
  await world.lead();
  assert.equal(world.ticks.size, 110);
  const [oldest] = oldestFirst(world);
  assert.equal(oldest?.since, new Date(begin).toISOString());
  assert.match(oldest.reason, /All ticks after 2026-01-01T00:00:00.000Z until this one were missed/);
});

test('a tick that waits longer than its deadline is missed; one that is replaced says so', async () => {
  const hold: Fate = { lastsMs: 10 * hour, outcome: 'succeeded' };
  const world = new ScheduleWorld(
    everyMinute,
    { ...usualRules, overlap: 'queue', deadlineSeconds: 90 },
    begin,
    () => hold,
  );
  for (const at of [1, 2, 3, 4]) {
    world.now = begin + at * minute;
    await world.lead();
  }
  assert.deepEqual(states(world), ['run', 'missed', 'waiting', 'waiting']);
  assert.match(oldestFirst(world)[1]?.reason ?? '', /not begun 90 s after its time/);
  world.change(everyMinute, { ...usualRules, overlap: 'replace' });
  world.now = begin + 5 * minute;
  await world.lead();
  assert.deepEqual(states(world), ['run', 'missed', 'skipped', 'skipped', 'waiting']);
  assert.equal([...world.runs.values()][0]?.outcome, 'cancelled');
  await world.lead();
  assert.deepEqual(states(world), ['run', 'missed', 'skipped', 'skipped', 'run']);
});

test('failures in a row pause a schedule, cancelled runs do not count, and resuming begins to count anew', async () => {
  const fates: Outcome[] = ['failed', 'succeeded', 'failed', 'cancelled', 'failed', 'failed', 'failed'];
  let next = 0;
  const fate = (): Fate => ({ lastsMs: 1, outcome: fates[next++] ?? 'failed' });
  const world = new ScheduleWorld(everyMinute, { ...usualRules, pauseAfterFailures: 2 }, begin, fate);
  const minutes = async (count: number) => {
    for (let i = 0; i < count; i++) {
      world.now += minute;
      await world.lead(0);
      await world.lead();
    }
  };
  await minutes(5);
  const stopped = () => world.head.stopped;
  assert.equal(stopped(), undefined);
  await minutes(1);
  assert.match(stopped()?.reason ?? '', /2 runs in a row did not succeed/);
  assert.deepEqual(states(world), ['run', 'run', 'run', 'run', 'run', 'skipped']);
  world.resume();
  await minutes(2);
  assert.equal(stopped(), undefined);
  await minutes(1);
  assert.equal(stopped()?.by, 'Hotcell');
});

test('a leader that has read that a schedule is stopped decides no tick from then on', async () => {
  const world = new ScheduleWorld(everyMinute, usualRules, begin, () => quick);
  world.now = begin + minute;
  await world.lead();
  world.now += 30_000;
  world.pause();
  for (let i = 0; i < 3; i++) {
    world.now += minute;
    await world.lead();
  }
  assert.deepEqual(states(world), ['run']);
});

test('a clock that is set back repeats no tick, and one that is set forward makes those in between late', async () => {
  const world = new ScheduleWorld(everyMinute, { ...usualRules, missed: 'skip' }, begin, () => quick);
  world.now = begin + minute;
  await world.lead();
  world.now = begin - hour;
  await world.lead();
  world.now = begin + minute + 10;
  await world.lead();
  assert.equal(world.runs.size, 1);
  world.now = begin + 10 * minute;
  await world.lead();
  assert.deepEqual(states(world), ['run', ...Array.from({ length: 7 }, () => 'missed'), 'run', 'skipped']);
});

test('the run of a tick has a UUIDv7 of its planned time, and no other tick or schedule has the same', () => {
  const planned = Date.UTC(2026, 5, 1, 6);
  const ids = ['a', 'b'].flatMap((schedule) =>
    [planned, planned + 1].flatMap((at) =>
      (['planned', 'asked'] as const).map((kind) => tickRunId(schedule, kind, at)),
    ),
  );
  assert.equal(new Set(ids).size, 8);
  assert.equal(ids[0], tickRunId('a', 'planned', planned));
  assert.equal(timeOf(ids[0] ?? '').getTime(), planned);
  const of = ({ name }: { name: string }) => tickOfName(name);
  for (const kind of ['planned', 'asked'] as const)
    assert.deepEqual(of({ name: tickName(kind, planned) }), { kind, planned });
  const names = [planned, planned + 1_000, planned + hour].map((at) => tickName('planned', at));
  assert.deepEqual(names.toSorted(), names.toReversed());
});

test('jitter is the same for each tick, follows from the name and is shorter than its bound', () => {
  const of = (name: string, jitterSeconds: number) => {
    const world = new ScheduleWorld(everyMinute, { ...usualRules, jitterSeconds }, begin, () => quick);
    return jitterMs({ ...world.head, name });
  };
  const all = Array.from({ length: 200 }, (_, i) => of(`s${i}`, 600));
  assert.ok(all.every((ms) => ms >= 0 && ms < 600_000));
  assert.ok(new Set(all).size > 190, 'it spreads');
  assert.ok(all.some((ms) => ms < 150_000) && all.some((ms) => ms > 450_000));
  assert.equal(of('s1', 600), all[1]);
  assert.equal(of('s1', 0), 0);
});

test('a tick that a caller asks for waits for the run before, and runs in a pause as well', async () => {
  const world = new ScheduleWorld(everyMinute, usualRules, begin, () => ({ lastsMs: 90_000, outcome: 'succeeded' }));
  world.now = begin + minute;
  await world.lead();
  world.now += 10;
  world.ask();
  await world.lead();
  const asked = (): TickRecord | undefined => records(world).find(({ kind }) => kind === 'asked');
  assert.equal(asked()?.state, 'waiting');
  world.pause();
  world.now += 2 * minute;
  await world.lead();
  assert.equal(asked()?.state, 'run');
});
