import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Hotcell } from '@hotcell/client/index.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { tickRunId } from '@hotcell/contract/schedule-ticks.ts';
import type { Tick } from '@hotcell/contract/api/schedules.ts';
import { findSpec } from '@hotcell/record/run-spec.ts';
import { publishName } from '@hotcell/record/snapshot-name.ts';
import { z } from 'zod';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { freezeTree } from '../support/freezing.ts';
import { type House, openHouse } from '../support/house.ts';
import { problemOf } from '../support/problem.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { until } from '../support/until.ts';

/** Schedules over HTTP, with a producer as in production and a worker that echoes. */
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
const everySecond = { everySeconds: 1 };
const yearly = { cron: '@yearly' };

/** The ticks of a schedule, the oldest first, as soon as they are as wanted. */
async function ticksOnce(name: string, wanted: (ticks: Tick[]) => boolean): Promise<Tick[]> {
  return await until(`the ticks of ${name} are as wanted`, async (note) => {
    const { ticks } = note(await hotcell.schedules.ticks(name, { limit: 100 }));
    const inOrder = ticks.toReversed();
    return wanted(inOrder) ? inOrder : undefined;
  });
}

const ended = (ticks: Tick[]) => ticks.filter(({ outcome }) => outcome !== null);

test('each tick has one run whose id follows from it, and which is told its name and times', async () => {
  const { id } = await hotcell.schedules.create({
    name: 'seconds',
    trigger: everySecond,
    overlap: 'queue',
    run: { ...echo('print hello'), params: { own: 1 } },
  });
  const ticks = await ticksOnce('seconds', (some) => ended(some).length >= 3);
  const paused = await hotcell.schedules.pause('seconds', 'enough');
  assert.deepEqual([paused.health.state, paused.next], ['paused', []]);
  assert.match(paused.waits, /paused: enough/);
  for (const [i, { planned, run, outcome, state, kind }] of ended(ticks).entries()) {
    assert.deepEqual([state, kind, outcome], ['run', 'planned', 'succeeded']);
    assert.equal(run, tickRunId(id, 'planned', Date.parse(planned)));
    const spec = (await findSpec(house.store, house.tenant, run ?? ''))?.spec;
    const previous = new Date(Date.parse(planned) - 1000).toISOString();
    assert.deepEqual(spec?.params, { own: 1, schedule: { name: 'seconds', planned, previous } });
    assert.equal(spec?.labels['schedule'], 'seconds');
    if (i > 0) assert.equal(previous, ended(ticks)[i - 1]?.planned, 'no tick is left out');
  }
  // Nothing is planned in a pause, and nothing of it is made up for.
  await hotcell.schedules.resume('seconds');
  const more = await ticksOnce('seconds', (some) => ended(some).length >= ended(ticks).length + 2);
  assert.ok(more.every(({ state }) => state !== 'missed'));
  await hotcell.schedules.remove('seconds');
  await assert.rejects(hotcell.schedules.show('seconds'), { code: 'not_found' });
});

test('inputs named by a pointer are frozen at each tick', async () => {
  const publish = async (content: string) => {
    const { snapshot } = await freezeTree(house, house.tenant, { 'in.txt': content });
    await publishName(house.producer.store, house.tenant, 'daily', snapshot, 'the test', new Date());
    return snapshot;
  };
  const run = { ...echo('print x'), inputs: { data: 'daily' } };
  await hotcell.schedules.create({ name: 'pointers', trigger: yearly, run });
  const inputOf = async (id: string) => (await findSpec(house.store, house.tenant, id))?.spec.inputs[0]?.snapshot;
  // There is nothing by that name yet: the tick is refused with the reason, and the schedule doesn't look well.
  await hotcell.schedules.trigger('pointers');
  const [refused] = await ticksOnce('pointers', (some) => some.some(({ state }) => state === 'refused'));
  assert.equal(refused?.errors?.[0]?.path, 'inputs.data');
  assert.match(refused.errors[0].message, /No snapshot is named daily/);
  const bad = await hotcell.schedules.show('pointers');
  assert.equal(bad.health.state, 'bad');
  assert.match(bad.health.message, /was refused: .*No snapshot is named daily/);
  for (const content of ['of then', 'of now']) {
    const snapshot = await publish(content);
    const asked = await hotcell.schedules.trigger('pointers');
    const ticks = await ticksOnce(
      'pointers',
      (some) => some.at(-1)?.outcome === 'succeeded' && some.at(-1)?.run === asked.run,
    );
    assert.equal(ticks.at(-1)?.kind, 'asked');
    assert.equal(await inputOf(asked.run), snapshot);
  }
  assert.equal((await hotcell.schedules.show('pointers')).health.state, 'good');
});

test('a change is a new version with its author and what it changed; ticks run the version of their time', async () => {
  await hotcell.schedules.create({ name: 'changes', trigger: yearly, run: echo('exit 1') });
  const first = await hotcell.schedules.trigger('changes');
  await ticksOnce('changes', (some) => some[0]?.outcome === 'failed');
  const changed = await hotcell.schedules.change('changes', {
    trigger: yearly,
    overlap: 'replace',
    run: echo('exit 0'),
  });
  assert.equal(changed.number, 2);
  assert.deepEqual(
    changed.changes.map(({ path }) => path),
    ['rules.overlap', 'run.blocks'],
  );
  await hotcell.schedules.trigger('changes');
  const ticks = await ticksOnce('changes', (some) => ended(some).length === 2);
  assert.deepEqual(
    ticks.map(({ number, outcome }) => [number, outcome]),
    [
      [1, 'failed'],
      [2, 'succeeded'],
    ],
  );
  assert.equal(ticks[0]?.run, first.run);
});

test('runs in a row that fail pause the schedule, and it says so', async () => {
  await hotcell.schedules.create({ name: 'failing', trigger: everySecond, pauseAfterFailures: 2, run: echo('exit 3') });
  const shown = await until('it is paused', async () => {
    const now = await hotcell.schedules.show('failing');
    return now.stopped && now;
  });
  assert.match(shown.health.message, /paused by Hotcell: 2 runs in a row did not succeed/);
  const { ticks } = await hotcell.schedules.ticks('failing');
  assert.equal(ended(ticks).length, 2);
});

test('a revoked key pauses the schedules that it made, and they say so', async () => {
  const key = await producer.key('submitter');
  const body = JSON.stringify({ name: 'orphan', trigger: everySecond, run: echo('print x') });
  assert.equal((await producer.ask('POST', '/v1/schedules', { key, body })).status, 201);
  const admin = await producer.key('admin');
  const id = sha256(key).slice('sha256:'.length, 'sha256:'.length + 16);
  assert.equal((await producer.ask('DELETE', `/v1/apikeys/${id}`, { key: admin })).status, 200);
  const shown = await until('it is paused', async () => {
    const now = await hotcell.schedules.show('orphan');
    return now.stopped && now;
  });
  assert.match(shown.health.message, new RegExp(`API key ${id} is revoked`));
  await assert.rejects(hotcell.schedules.resume('orphan'), { code: 'forbidden' });
  // The same from a good key is a difference now.
  const applied = await hotcell.schedules.apply('orphan', { trigger: everySecond, run: echo('print x') });
  assert.deepEqual([applied.result, applied.before, applied.number], ['changed', 1, 2]);
  assert.ok(applied.changes.some(({ path, before }) => path === 'author.key' && before.includes(id)));
  assert.equal((await hotcell.schedules.resume('orphan')).stopped, undefined);
  await hotcell.schedules.remove('orphan');
});

test('what is applied is made, changed or left alone; trying it out makes nothing', async () => {
  const asked = { trigger: { everySeconds: 3600 }, run: { ...echo('print x'), params: { list: [{ b: 1, a: 2 }] } } };
  const apply = (change: object = {}, client = hotcell) => client.schedules.apply('applied', { ...asked, ...change });
  assert.deepEqual(await apply({ dryRun: true }), {
    ...{ name: 'applied', result: 'new', number: null, before: null, changes: [] },
  });
  await assert.rejects(hotcell.schedules.show('applied'), { code: 'not_found' });
  assert.deepEqual([(await apply()).result, (await apply()).result], ['new', 'unchanged']);
  const other = await producer.client('submitter');
  assert.equal((await apply({}, other)).result, 'unchanged');
  const tried = await apply({ overlap: 'queue', dryRun: true });
  assert.deepEqual([tried.result, tried.number], ['changed', 1]);
  assert.deepEqual(tried.changes, [{ path: 'rules.overlap', before: '"skip"', after: '"queue"' }]);
  await hotcell.schedules.pause('applied', 'a holiday');
  const changed = await apply({ run: echo('print y') });
  assert.deepEqual([changed.result, changed.before, changed.number], ['changed', 1, 2]);
  assert.equal(changed.stopped?.reason, 'a holiday');
  const versions = await Promise.all([1, 2].map((number) => hotcell.schedules.version('applied', number)));
  assert.deepEqual(
    versions.map(({ run }) => run),
    [asked.run, echo('print y')],
  );
  await assert.rejects(hotcell.schedules.version('applied', 3), { code: 'not_found' });
  // Two at once make one.
  const both = await Promise.all([1, 2].map(() => hotcell.schedules.apply('twice', asked)));
  assert.deepEqual(both.map(({ result }) => result).toSorted(), ['new', 'unchanged']);
  await assert.rejects(hotcell.schedules.apply('No Name', asked), { code: 'invalid' });
});

test('one run at a time: a tick that comes meanwhile is skipped, waits or replaces, as the rule says', async () => {
  const hold = { ...echo('hold'), limits: { timeoutSeconds: 600 } };
  for (const overlap of ['skip', 'queue', 'replace'] as const)
    await hotcell.schedules.create({ name: overlap, trigger: everySecond, overlap, run: hold });
  const skipped = await ticksOnce('skip', (some) => some.length >= 3);
  assert.deepEqual(
    skipped.slice(0, 3).map(({ state }) => state),
    ['run', 'skipped', 'skipped'],
  );
  assert.match(skipped[1]?.reason ?? '', new RegExp(`has not ended \\(run ${skipped[0]?.run}\\)`));
  const waiting = await ticksOnce('queue', (some) => some.length >= 3);
  assert.deepEqual(
    waiting.slice(0, 3).map(({ state }) => state),
    ['run', 'waiting', 'waiting'],
  );
  const replaced = await ticksOnce('replace', (some) => ended(some).length >= 2);
  assert.deepEqual(
    ended(replaced).map(({ outcome }) => outcome),
    ended(replaced).map(() => 'cancelled'),
  );
  assert.match(ended(replaced)[0]?.reason ?? '', /schedule replace: the next tick of the schedule replaces it/);
  for (const name of ['skip', 'queue', 'replace']) {
    await hotcell.schedules.remove(name);
    await hotcell.list({ label: [`schedule=${name}`], limit: 100 }).then(async ({ runs }) => {
      for (const { run, status } of runs)
        if (status !== 'finished')
          await hotcell
            .runById(run)
            .cancel()
            .catch(() => {});
    });
  }
});

test('a schedule that could never run is refused when it is made, with every reason', async () => {
  const refused = async (body: unknown, status: number) => {
    const answer = await producer.ask('POST', '/v1/schedules', { body: JSON.stringify(body) });
    const problem = await problemOf(answer);
    assert.equal(answer.status, status, problem.detail);
    return z.looseObject({ errors: z.array(z.object({ path: z.string(), message: z.string() })) }).parse(problem)
      .errors;
  };
  const run = echo('print x');
  const paths = (errors: { path: string }[]) => errors.map(({ path }) => path);
  const clash = { ...run, params: { schedule: 1 }, labels: { schedule: 'x' }, notBefore: new Date().toISOString() };
  assert.deepEqual(paths(await refused({ name: 'a', trigger: yearly, run: clash }, 400)), [
    ...['run.params.schedule', 'run.labels.schedule', 'run.notBefore'],
  ]);
  const never = await refused({ name: 'a', trigger: { cron: '0 0 31 2,4 *' }, run: { ...run, params: [1] } }, 400);
  assert.deepEqual(paths(never), ['trigger.cron', 'run.params']);
  const [zone] = await refused({ name: 'a', trigger: { cron: '@daily', timezone: 'Mars' }, run }, 400);
  assert.match(zone?.message ?? '', /Mars is not a time zone/);
  const [policy] = await refused({ name: 'a', trigger: yearly, run: { ...run, policy: 'none-such' } }, 422);
  assert.equal(policy?.path, 'run.policy');
  const [limit] = await refused({ name: 'a', trigger: yearly, run: { ...run, limits: { memoryBytes: 2 ** 50 } } }, 422);
  assert.equal(limit?.path, 'run.limits.memoryBytes');
  const [unknown] = await refused({ name: 'a', trigger: yearly, run: { code: 'x' } }, 400);
  assert.match(unknown?.path ?? '', /^run\./);
  await hotcell.schedules.create({ name: 'taken', trigger: yearly, run });
  await assert.rejects(hotcell.schedules.create({ name: 'taken', trigger: yearly, run }), { code: 'conflict' });
  const other = await producer.client('submitter', bed.tenant());
  await assert.rejects(other.schedules.show('taken'), { code: 'not_found' });
  const reader = await producer.client('reader');
  await assert.rejects(reader.schedules.create({ name: 'b', trigger: yearly, run }), { code: 'forbidden' });
  assert.deepEqual((await reader.schedules.list()).schedules.find(({ name }) => name === 'taken')?.health.state, 'new');
});

test('a backfill gives each tick of the past the run that follows from it, so many at once, and none twice', async () => {
  const hourly = { everySeconds: 3600, anchor: '2026-01-01T00:00:00Z' };
  const { id } = await hotcell.schedules.create({ name: 'past', trigger: hourly, run: echo('print x') });
  const range = { from: '2026-03-01T00:00:00Z', to: '2026-03-01T06:00:00Z' };
  assert.equal((await hotcell.schedules.backfill('past', { ...range, parallel: 2 })).ticks, 6);
  const ticks = await ticksOnce('past', (some) => ended(some).length === 6);
  assert.deepEqual(
    ticks.map(({ planned, run, outcome }) => [planned, run, outcome]),
    Array.from({ length: 6 }, (_, i) => {
      const planned = Date.UTC(2026, 2, 1, i);
      return [new Date(planned).toISOString(), tickRunId(id, 'planned', planned), 'succeeded'];
    }),
  );
  const again = await hotcell.schedules.backfill('past', { from: '2026-02-28T22:00:00Z', to: range.to });
  assert.equal(again.ticks, 8);
  await ticksOnce('past', (some) => ended(some).length === 8);
  await until('both are done', async () => (await hotcell.schedules.show('past')).backfills.length === 0);
  const { runs } = await hotcell.list({ label: ['schedule=past'], limit: 100 });
  assert.equal(runs.length, 8);
  for (const wrong of [
    { from: range.to, to: range.from },
    { from: range.from, to: '2999-01-01T00:00:00Z' },
    { from: '1990-01-01T00:00:00Z', to: range.to },
  ])
    await assert.rejects(hotcell.schedules.backfill('past', wrong), { code: 'invalid' });
});
