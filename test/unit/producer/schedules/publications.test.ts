import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dueTicks } from '@hotcell/contract/schedule-due.ts';
import { withVersions } from '@hotcell/contract/published-versions.ts';
import type { ScheduleHead, TickRecord } from '@hotcell/contract/schedule.ts';
import { AwaitedNames } from '@hotcell/producer/schedules/awaited-names.ts';
import { versionsOf } from '@hotcell/record/snapshot-name.ts';
import { type Fate, ScheduleWorld, usualRules } from '../../../support/schedule-world.ts';

const begin = Date.UTC(2026, 0, 1);
const quick: Fate = { lastsMs: 300, outcome: 'succeeded' };
const onPublish = { onPublish: 'x' };
const rules = { ...usualRules, overlap: 'queue', missed: 'all', catchUp: 100 } as const;

const ticksOf = (world: ScheduleWorld) =>
  [...world.ticks.values()].map(({ value }) => value).toSorted((a, b) => a.planned.localeCompare(b.planned));
const numbers = (ticks: readonly TickRecord[]) => ticks.map(({ published }) => published?.number);

test('each version has one run, whichever leaders die; none has one twice, and none that came before the schedule', async () => {
  const world = new ScheduleWorld(onPublish, rules, begin, () => quick);
  world.now = begin - 10;
  world.publish();
  for (let i = 1; i <= 300; i++) {
    world.now = begin + i * 400;
    if (i % 3 > 0) world.publish();
    await world.lead(i % 4 === 0 ? i % 3 : undefined);
    if (i % 10 === 0) world.now -= 150;
  }
  for (; world.runs.size < 200 && world.now < begin + 10 * 60_000; world.now += 1_100) await world.lead();
  const ticks = ticksOf(world);
  assert.deepEqual(
    numbers(ticks),
    Array.from({ length: 200 }, (_, i) => i + 2),
  );
  assert.deepEqual(
    ticks.filter(({ state }) => state !== 'run'),
    [],
  );
  assert.equal(world.runs.size, 200);
  assert.equal(world.mostAtOnce, 1);
});

test('what is published in a pause has no tick; what comes after has', async () => {
  const world = new ScheduleWorld(onPublish, rules, begin, () => quick);
  for (const deed of ['publish', 'pause', 'publish', 'resume', 'publish'] as const) {
    world.now += 5_000;
    world[deed]();
    await world.lead();
  }
  assert.deepEqual(numbers(ticksOf(world)), [1, 3]);
});

test('what is asked for gets the newest version of then', async () => {
  const world = new ScheduleWorld(onPublish, rules, begin, () => quick);
  world.ask();
  await world.lead();
  world.now += 5_000;
  world.publish();
  world.now += 5_000;
  world.ask();
  await world.lead();
  assert.deepEqual(
    ticksOf(world).map(({ kind, published }) => [kind, published?.number]),
    [
      ['asked', undefined],
      ['planned', 1],
      ['asked', 1],
    ],
  );
});

const at = (second: number) => new Date(begin + second * 1000).toISOString();
const sha = (n: number) => `sha256:${String(n).padStart(64, '0')}` as const;

test('versions come in the order in which the history took them in, with the numbers of their own times', () => {
  const { versions } = versionsOf({
    ...{ version: 1, name: 'x', forgotten: 4 },
    history: [
      { snapshot: sha(1), at: at(1), by: 'an earlier Hotcell' },
      { snapshot: sha(2), at: at(2), by: 'made up for late', recorded: at(9) },
      { snapshot: sha(3), at: at(3), by: 'in time', recorded: at(4) },
    ],
  });
  assert.deepEqual(
    versions.map(({ number, planned, previous }) => [number, new Date(planned).toISOString(), previous]),
    [
      [5, at(1), null],
      [7, at(4), at(1)],
      [6, at(9), at(4)],
    ],
  );
});

test('versions that the history dropped before a leader decided them leave one record that says so', () => {
  const [version] = versionsOf({
    version: 1,
    name: 'x',
    history: [{ snapshot: sha(1), at: at(50), by: 'b' }],
  }).versions;
  assert.ok(version);
  const bare = { ...{ version: 1 as const, tenant: 't', name: 's', id: '', key: 'k' }, createdAt: at(0), asked: [] };
  const head: ScheduleHead = { ...bare, periods: [{ number: 1, from: at(0), trigger: onPublish, rules }] };
  const known = withVersions(head, new Map([['x', { versions: [version], forgottenUntil: Date.parse(at(40)) }]]));
  const due = (decidedUntil: string) =>
    dueTicks(known, Date.parse(decidedUntil), Date.parse(at(55))).map(({ fate, planned }) => [
      fate,
      new Date(planned).toISOString(),
    ]);
  assert.deepEqual(due(at(10)), [
    ['on time', at(50)],
    ['missed', at(40)],
  ]);
  assert.deepEqual(due(at(40)), [['on time', at(50)]]);
  assert.deepEqual(due(at(50)), []);
});

test('only schedules that have not seen the newest version of their name are looked at', () => {
  const names = new AwaitedNames();
  const awaited = (name: string, etag?: string) => ({ name, etag });
  names.set('t', 'a', undefined, awaited('x', '1'));
  names.set('t', 'b', undefined, awaited('x'));
  assert.deepEqual([names.of('t', 'x'), names.of('t', 'x', '1'), names.of('t', 'y')], [['a', 'b'], ['b'], []]);
  assert.deepEqual([names.has('t'), names.has('u'), names.of('u', 'x')], [true, false, []]);
  names.set('t', 'a', awaited('x', '1'), awaited('y', '5'));
  assert.deepEqual([names.of('t', 'x'), names.of('t', 'y')], [['b'], ['a']]);
  names.set('t', 'a', awaited('y', '5'), undefined);
  names.set('t', 'b', awaited('x'), undefined);
  assert.equal(names.has('t'), false);
});
