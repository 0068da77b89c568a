import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Hotcell } from '@hotcell/client/index.ts';
import { tickRunId } from '@hotcell/contract/schedule-ticks.ts';
import type { Tick } from '@hotcell/contract/api/schedules.ts';
import { findSpec } from '@hotcell/record/run-spec.ts';
import { publishName } from '@hotcell/record/snapshot-name.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { freezeTree } from '../support/freezing.ts';
import { type House, openHouse } from '../support/house.ts';
import { problemOf } from '../support/problem.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { until } from '../support/until.ts';

/** Schedules whose ticks are the versions of a name, with a producer as in production and a worker that echoes. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let hotcell: Hotcell;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  hotcell = await producer.client();
  await house.worker('echo', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
});
after(async () => {
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const echo = (code: string) => ({ blocks: [{ language: 'bash', code }] });

/** The ticks of a schedule, the oldest first, as soon as they are as wanted. */
async function ticksOnce(name: string, wanted: (ticks: Tick[]) => boolean): Promise<Tick[]> {
  return await until(`the ticks of ${name} are as wanted`, async (note) => {
    const { ticks } = note(await hotcell.schedules.ticks(name, { limit: 100 }));
    const inOrder = ticks.toReversed();
    return wanted(inOrder) ? inOrder : undefined;
  });
}

const ended = (ticks: Tick[]) => ticks.filter(({ outcome }) => outcome !== null);

const publishAs = async (name: string, content: string, by = 'the test') => {
  const { snapshot } = await freezeTree(house, house.tenant, { 'in.txt': content });
  await publishName(house.producer.store, house.tenant, name, snapshot, by);
  await house.producer.live.published(house.tenant, name);
  return snapshot;
};
const specOf = async (run: string | null | undefined) =>
  (await findSpec(house.store, house.tenant, run ?? ''))?.spec ?? assert.fail(`${run} has no spec`);

test('each version that is published under a name has one run, which has that version', async () => {
  await publishAs('watched', 'before the schedule');
  const run = { ...echo('print x'), inputs: { data: 'watched' } };
  const made = await hotcell.schedules.create({ name: 'on-publish', trigger: { onPublish: 'watched' }, run });
  assert.deepEqual([made.rules.overlap, made.rules.missed, made.next], ['queue', 'all', []]);
  assert.match(made.waits, /It waits for the next version of watched/);
  // All at once: the runs come one after the other, and each has its own.
  const contents = ['one', 'two', 'three'];
  const snapshots: string[] = [];
  for (const content of contents) snapshots.push(await publishAs('watched', content));
  const ticks = await ticksOnce('on-publish', (some) => ended(some).length === 3);
  assert.deepEqual(
    ticks.map(({ published }) => published?.number),
    [2, 3, 4],
  );
  for (const [i, { planned, run: id, published }] of ticks.entries()) {
    assert.equal(id, tickRunId(made.id, 'planned', Date.parse(planned)));
    const { inputs, params } = await specOf(id);
    assert.equal(inputs[0]?.snapshot, snapshots[i]);
    const { previous, ...version } = published ?? assert.fail();
    assert.deepEqual(params, {
      schedule: { name: 'on-publish', planned, previous, published: { ...version, after: [] } },
    });
  }
  // Asked for, it runs on the newest; a backfill gives the versions of before their runs.
  const asked = await hotcell.schedules.trigger('on-publish');
  await ticksOnce('on-publish', (some) => ended(some).length === 4);
  assert.equal((await specOf(asked.run)).inputs[0]?.snapshot, snapshots[2]);
  const range = { from: '2026-01-01T00:00:00Z', to: new Date().toISOString() };
  assert.equal((await hotcell.schedules.backfill('on-publish', range)).ticks, 4);
  const all = await ticksOnce('on-publish', (some) => ended(some).length === 5);
  assert.equal(all[0]?.published?.number, 1);
});

test('schedules that would begin each other without end are refused, at once or at the second round', async () => {
  const body = { name: 'self', trigger: { onPublish: 'own' }, run: { ...echo('print x'), publish: 'own' } };
  const answer = await producer.ask('POST', '/v1/schedules', { body: JSON.stringify(body) });
  assert.equal(answer.status, 400);
  assert.match((await problemOf(answer)).detail, /run\.publish: is the name whose versions begin the runs/);
  await hotcell.schedules.create({ name: 'a', trigger: { onPublish: 'x' }, run: { ...echo('print x'), publish: 'y' } });
  await hotcell.schedules.create({ name: 'b', trigger: { onPublish: 'y' }, run: { ...echo('print x'), publish: 'x' } });
  await publishAs('x', 'first');
  const [first] = await ticksOnce('a', (some) => ended(some).length === 1);
  await publishAs('y', 'of a', `run ${first?.run}`);
  const [second] = await ticksOnce('b', (some) => ended(some).length === 1);
  await publishAs('x', 'of b', `run ${second?.run}`);
  const ticks = await ticksOnce('a', (some) => ended(some).length === 2);
  assert.deepEqual([ticks[1]?.state, ticks[1]?.outcome], ['refused', 'rejected']);
  assert.match(ticks[1]?.reason ?? '', /comes from run .*: a → b → a\. It would go on for ever/);
  assert.equal((await hotcell.schedules.show('a')).health.state, 'bad');
});
