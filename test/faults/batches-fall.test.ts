import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { Hotcell } from '@hotcell/client/index.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { batchesOf } from '@hotcell/record/batch-records.ts';
import { Redis } from 'ioredis';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { exactItems } from '../support/exact-items.ts';
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

type NewBatch = Parameters<Hotcell['batches']['create']>[0];

const echo = (code: string) => ({ blocks: [{ language: 'bash', code }] });
const items = (count: number) => ({ over: { items: Array.from({ length: count }, (_, n) => ({ n })) } });
const some: NewBatch = { ...items(8), parallel: 4, run: echo('print x') };

/** What a leader does between one of its writes and the next, and a batch that makes it do so. */
const steps: Readonly<Record<string, NewBatch & { revokes?: true }>> = {
  'batch.made': some,
  'batch.marked': some,
  'batch.chunk': { ...items(120), parallel: 40, run: echo('print x') },
  'batch.listed': some,
  'batch.begun': some,
  'accept.spec': some,
  'accept.open': some,
  'batch.item': some,
  'batch.cancelled': { ...items(8), parallel: 2, onFailure: 'cancel', run: echo('last 200\nexit 1') },
  'batch.refused': { ...items(8), parallel: 1, run: echo('last 200'), revokes: true },
  'batch.ends': some,
  'batch.manifest': some,
  'batch.evidence': some,
  'batch.published': { ...some, publish: 'all', run: echo('output x') },
  'batch.ended': some,
};

async function leads(redis: Redis, house: House, producer: RunningProducer): Promise<void> {
  const key = `hotcell:${house.id}:leader:batches`;
  await redis.del(key);
  await until('the next producer leads', async () => {
    if (producer.child.process.exitCode !== null) assert.fail(producer.child.said());
    // It may have gone on with a batch of its predecessor, and have fallen already.
    return producer.child.said().includes('crashPoint') || (await redis.get(key)) !== null;
  });
}

/** Each leader falls at its step, and the next, which will fall at the next step, goes on with the batches of all. */
async function leadersFall(how: How, points: readonly string[]): Promise<void> {
  await using house = await openHouse(bed);
  const redis = new Redis(bed.installation.redisUrl);
  await using stack = new AsyncDisposableStack();
  stack.defer(() => redis.disconnect());
  await house.worker('echo', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
  const asleep: RunningProducer[] = [];
  const asked: Promise<void>[] = [];
  for (const point of points) {
    const { revokes, ...batch } = steps[point] ?? assert.fail(point);
    const leader = stack.use(await startProducer(bed, house, { HOTCELL_CRASH_AT: `${point}:${how}` }));
    await leads(redis, house, leader);
    // It may fall before it has answered.
    const made = makeOne(leader, batch, revokes);
    await Promise.race([made, leader.child.saying('crashPoint')]).catch((error: unknown) => {
      // An answer other than the one that is wanted: no leader would fall, and this would wait for ever.
      if (error instanceof assert.AssertionError) throw error;
    });
    asked.push(made.catch(() => undefined));
    await fallen(leader.child, point, how);
    if (how === 'stop') asleep.push(leader);
  }
  await using last = await startProducer(bed, house);
  await leads(redis, house, last);
  // Those that slept believe that they lead, and go on where they were.
  for (const leader of asleep) leader.child.kill('SIGCONT');
  await Promise.all(asked);
  const made = await Array.fromAsync(batchesOf(house.store, house.tenant));
  assert.ok(made.length > 0);
  // One that was made before its leader fell, and not promised, goes on when it is asked for.
  const { batches } = await last.client();
  for (const batch of made) {
    const shown = await batches.show(batch);
    if (shown.endedAt === null && points.includes('batch.made')) await batches.cancel(batch).catch(() => undefined);
  }
  await exactItems(house, made);
  await stack.disposeAsync();
  await settle(house, last);
}

async function makeOne(leader: RunningProducer, batch: NewBatch, revokes: true | undefined): Promise<void> {
  const key = await leader.key('submitter');
  // As every client does: a producer that has just started may say that it can't yet. One that falls gives no answer.
  const headers = { 'idempotency-key': randomUUID() };
  const ask = () => leader.ask('POST', '/v1/batches', { key, headers, body: JSON.stringify(batch) });
  let answer = await ask();
  for (let again = 0; answer.status === 503 && again < 20; again++) answer = await ask();
  assert.equal(answer.status, 201, await answer.text());
  if (!revokes) return;
  const id = sha256(key).slice('sha256:'.length, 'sha256:'.length + 16);
  await leader.ask('DELETE', `/v1/apikeys/${id}`, { key: await leader.key('admin') });
}

describe('batches', { concurrency: 1 }, () => {
  test('each item has exactly one run, although leaders are killed at any step', () =>
    leadersFall('kill', Object.keys(steps)));

  test('each item has exactly one run, although leaders sleep where another may take a step before them', () =>
    leadersFall('stop', ['batch.listed', 'batch.begun', 'accept.spec', 'batch.ends', 'batch.evidence']));

  test('each item has exactly one run, with two producers and a Valkey that is emptied again and again', async () => {
    await using house = await openHouse(bed);
    await using first = await startProducer(bed, house);
    await using second = await startProducer(bed, house);
    await house.worker('echo', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
    const { batches } = await first.client();
    const { batch } = await batches.create({ ...items(60), parallel: 5, run: echo('last 20') });
    for (const done of [10, 25, 40]) {
      await until(`${done} are done`, async (note) => note(await batches.show(batch)).counts.succeeded >= done);
      await house.emptyValkey();
    }
    const [ends] = await exactItems(house, [batch]);
    assert.ok(ends?.every(({ outcome }) => outcome === 'succeeded'));
    await second[Symbol.asyncDispose]();
    await settle(house, first);
  });
});
