import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Hotcell } from '@hotcell/client/index.ts';
import { Redis } from 'ioredis';
import { sha256 } from '@hotcell/contract/digest.ts';
import { publishName } from '@hotcell/record/snapshot-name.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { exactTicks } from '../support/exact-ticks.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { until } from '../support/until.ts';
import { fallen, type How } from './falling.ts';

let bed: Bed;

before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

type NewSchedule = Parameters<Hotcell['schedules']['create']>[0];

const every = { trigger: { everySeconds: 1 } };
const echo = (code: string) => ({ blocks: [{ language: 'bash', code }] });

/** What a leader does between one of its writes and the next, and a schedule that makes it do so. */
const steps: Readonly<Record<string, Omit<NewSchedule, 'name'> & { ask?: 'trigger' | 'backfill' }>> = {
  'schedule.run': { ...every, run: echo('print x') },
  'accept.spec': { ...every, run: echo('print x') },
  'accept.open': { ...every, run: echo('print x') },
  'accept.queued': { ...every, run: echo('print x') },
  'schedule.started': { ...every, run: echo('print x') },
  'schedule.skipped': { ...every, run: echo('last 1500') },
  'schedule.waiting': { ...every, overlap: 'queue', run: echo('last 1500') },
  'schedule.cancelled': { ...every, overlap: 'replace', run: echo('last 1500') },
  'schedule.missed': { ...every, overlap: 'queue', deadlineSeconds: 1, run: echo('last 5000') },
  'schedule.refused': { ...every, run: { ...echo('print x'), inputs: { data: 'no-such-name' } } },
  'schedule.paused': { ...every, pauseAfterFailures: 1, run: echo('exit 1') },
  'schedule.asked': { trigger: { cron: '@yearly' }, run: echo('print x'), ask: 'trigger' },
  'schedule.backfilled': { trigger: { cron: '@monthly' }, run: echo('print x'), ask: 'backfill' },
  'schedule.filled': { trigger: { cron: '@monthly' }, run: echo('print x'), ask: 'backfill' },
};

const past = { from: '2025-01-01T00:00:00Z', to: '2025-06-01T00:00:00Z', parallel: 2 };
const pastTicks = [0, 1, 2, 3, 4].map((month) => new Date(Date.UTC(2025, month)).toISOString());

/** Its predecessor's lead lapses now rather than in some seconds; then another leads. */
async function leads(redis: Redis, house: House, producer: RunningProducer): Promise<void> {
  const key = `hotcell:${house.id}:leader:schedules`;
  await redis.del(key);
  await until('the next producer leads', async () => {
    // On a slow machine the lead lapses while it starts: it may have led, and fallen, by now.
    if (producer.child.said().includes('crashPoint')) return true;
    if (producer.child.process.exitCode !== null) assert.fail(producer.child.said());
    return (await redis.get(key)) !== null;
  });
}

/** Each leader falls at its step, and the next, which will fall at the next step, goes on with the schedules of all. */
async function leadersFall(how: How, points: readonly string[]): Promise<void> {
  await using house = await openHouse(bed);
  await using redis = own(new Redis(bed.installation.redisUrl));
  await house.worker('echo', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
  const asleep: RunningProducer[] = [];
  const asked: Promise<void>[] = [];
  await using stack = new AsyncDisposableStack();
  for (const point of points) {
    const { ask, ...schedule } = steps[point] ?? assert.fail(point);
    const armed = { HOTCELL_CRASH_AT: `${point}:${how}` };
    const leader = stack.use(await startProducer(bed, house, armed));
    await leads(redis.it, house, leader);
    const name = point.replace('.', '-');
    const { schedules } = await leader.client();
    // It may fall before it has answered.
    const make = async () => {
      await schedules.create({ ...schedule, name });
      if (ask === 'trigger') await schedules.trigger(name);
      if (ask === 'backfill') await schedules.backfill(name, past);
    };
    const made = make();
    await Promise.race([made, leader.child.saying('crashPoint')]).catch(() => undefined);
    asked.push(made.catch(() => undefined));
    await fallen(leader.child, point, how);
    if (how === 'stop') asleep.push(leader);
  }
  await using last = await startProducer(bed, house);
  await leads(redis.it, house, last);
  // Those that slept believe that they lead, and go on where they were.
  for (const leader of asleep) leader.child.kill('SIGCONT');
  // One that slept before it had answered makes its schedule now.
  await Promise.all(asked);
  const { schedules } = await last.client();
  const found = (await schedules.list({ limit: 100 })).schedules.map(({ name }) => name);
  for (const name of found)
    await until(`the backfill of ${name} is done`, async () => (await schedules.show(name)).backfills.length === 0);
  for (const name of found) await schedules.pause(name, 'enough');
  const ticks = await exactTicks(house, found);
  assert.ok(ticks.some(({ state }) => state === 'run'));
  for (const name of found.filter((one) => one.endsWith('filled'))) {
    const { ticks: filled } = await schedules.ticks(name);
    const planned = filled.filter(({ state }) => state === 'run').map((tick) => tick.planned);
    assert.deepEqual(planned.filter((time) => time < past.to).toSorted(), pastTicks);
  }
  await stack.disposeAsync();
  await settle(house, last);
}

let published = 0;

/** As a worker does it that dies before it has told any leader. */
async function publishVersion({ producer, tenant }: House): Promise<void> {
  const snapshot = sha256(`version ${published++}`);
  await publishName(producer.store, tenant, 'sales', snapshot, 'the test');
}

/** Each leader falls at its step while it begins the run of a version, and the next one has one version more. */
async function leadersFallOverVersions(how: How, points: readonly string[]): Promise<void> {
  await using house = await openHouse(bed);
  await using redis = own(new Redis(bed.installation.redisUrl));
  await house.worker('echo', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
  const asleep: RunningProducer[] = [];
  await using stack = new AsyncDisposableStack();
  for (const [i, step] of points.entries()) {
    const leader = stack.use(await startProducer(bed, house, { HOTCELL_CRASH_AT: `${step}:${how}` }));
    await leads(redis.it, house, leader);
    const { schedules } = await leader.client();
    if (i === 0) await schedules.create({ name: 'versions', trigger: { onPublish: 'sales' }, run: echo('print x') });
    await publishVersion(house);
    await fallen(leader.child, step, how);
    if (how === 'stop') asleep.push(leader);
  }
  await using last = await startProducer(bed, house);
  await leads(redis.it, house, last);
  for (const leader of asleep) leader.child.kill('SIGCONT');
  await publishVersion(house);
  await everyVersionRuns(last, points.length + 1);
  assert.equal((await exactTicks(house, ['versions'])).length, points.length + 1);
  await stack.disposeAsync();
  await settle(house, last);
}

async function everyVersionRuns(producer: RunningProducer, versions: number): Promise<void> {
  const { schedules } = await producer.client();
  await until(`each of the ${versions} versions has its run`, async (note) => {
    const { ticks } = note(await schedules.ticks('versions', { limit: 100 }));
    return ticks.filter(({ outcome }) => outcome === 'succeeded').length === versions;
  });
  await schedules.pause('versions', 'enough');
}

function own(it: Redis) {
  return { it, [Symbol.asyncDispose]: async () => it.disconnect() };
}

describe('schedules', { concurrency: 1 }, () => {
  test('each tick has exactly one run, although leaders are killed at any step', () =>
    leadersFall('kill', Object.keys(steps)));

  test('each tick has exactly one run, although leaders sleep where another may take a step before them', () =>
    leadersFall('stop', ['schedule.run', 'accept.spec', 'accept.open', 'schedule.waiting', 'schedule.asked']));

  test('each published version has exactly one run, although leaders are killed while they begin it', () =>
    leadersFallOverVersions('kill', ['schedule.run', 'accept.spec', 'accept.open', 'schedule.started']));

  test('each published version has exactly one run, although leaders sleep while they begin it', () =>
    leadersFallOverVersions('stop', ['schedule.run', 'accept.open']));

  test('each tick has exactly one run, with two producers and a Valkey that is emptied again and again', async () => {
    await using house = await openHouse(bed);
    await using first = await startProducer(bed, house);
    await using second = await startProducer(bed, house);
    await house.worker('echo', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
    const { schedules } = await first.client();
    for (const overlap of ['skip', 'queue', 'replace'] as const)
      await schedules.create({ ...every, name: overlap, overlap, run: echo('last 300') });
    await schedules.create({ name: 'versions', trigger: { onPublish: 'sales' }, run: echo('last 300') });
    for (let round = 1; round <= 4; round++) {
      await publishVersion(house);
      await house.emptyValkey();
      await until(`the schedules go on after Valkey was emptied ${round} times`, async (note) => {
        const { ticks } = note(await schedules.ticks('skip', { limit: 100 }));
        return ticks.length >= 3 * round;
      });
    }
    for (const name of ['skip', 'queue', 'replace']) await schedules.pause(name);
    await everyVersionRuns(first, 4);
    const ticks = await exactTicks(house, ['skip', 'queue', 'replace', 'versions']);
    for (const name of ['skip', 'queue', 'replace'])
      assert.ok(
        ticks.some((tick) => tick.name === name && tick.state === 'run'),
        `${name} ran nothing`,
      );
    await second[Symbol.asyncDispose]();
    await settle(house, first);
  });
});
