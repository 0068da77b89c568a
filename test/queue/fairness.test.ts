import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Queue, Served } from '@hotcell/outside/queue/queue.ts';
import { Queues } from '@hotcell/outside/queue/queues.ts';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { type Bed, openBed } from '../support/bed.ts';
import { forget } from '../support/house.ts';
import { until } from '../support/until.ts';
import { consume } from './consumer.ts';
import { allSmallAfter, bigAndSmall, FairOrder, type Wanted } from './fair-order.ts';

let bed: Bed;
let queues: Queues;
let settings: { url: string; installation: string };
let made = 0;

before(async () => {
  bed = await openBed();
  settings = { url: bed.installation.redisUrl, installation: bed.id() };
  queues = new Queues(settings);
});
after(async () => {
  await queues[Symbol.asyncDispose]();
  await forget(settings.url, settings.installation);
  await bed[Symbol.asyncDispose]();
});

const nextName = () => `q${made++}`;
const newQueue = (): Queue => queues.of(nextName());
const add = (queue: Queue, { run, ...entry }: Wanted & { notBefore?: Date }) => queue.enqueue(null, { run, ...entry });
const of = (tenant: string, count: number, priority = 5): Wanted[] =>
  Array.from({ length: count }, (_, i) => ({ run: `${tenant}-${priority}-${i}`, tenant, priority }));

async function served(queue: Queue): Promise<string[]> {
  const count = await queue.depth();
  await using consumer = consume(queue);
  return await consumer.first(count);
}

test('a tenant with 20 runs is done within 40, however many priorities the thousand runs of another have', async () => {
  const queue = newQueue();
  const model = new FairOrder();
  for (const wanted of bigAndSmall) {
    await add(queue, wanted);
    model.add(wanted);
  }
  const order = await served(queue);
  assert.ok(allSmallAfter(order) <= 40, `all of the small tenant after ${allSmallAfter(order)}`);
  assert.deepEqual(order, model.takeAll());
});

test('whatever three tenants queue and remove, all is served in the promised order', async () => {
  const ask = fc.record({
    tenant: fc.constantFrom('a', 'b', 'c'),
    priority: fc.integer({ min: 0, max: 9 }),
    twice: fc.boolean(),
    removed: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(ask, { maxLength: 120 }), async (asked) => {
      const queue = newQueue();
      const model = new FairOrder();
      const history: Wanted[] = [];
      for (const [i, { twice, removed, ...entry }] of asked.entries()) {
        const wanted = { run: `run-${i}`, ...entry };
        await add(queue, wanted);
        if (twice) await add(queue, wanted);
        model.add(wanted);
        // Some of them when others stand behind them already.
        const victim = removed ? history[Math.floor(i / 2)] : undefined;
        if (victim) await queue.remove(victim.run);
        if (victim) model.remove(victim);
        history.push(wanted);
      }
      assert.deepEqual(await served(queue), model.takeAll());
    }),
    { numRuns: 15 },
  );
});

test('an urgent ticket takes the next turn of its tenant, and its place says so', async () => {
  const queue = newQueue();
  for (const wanted of [...of('a', 50), ...of('b', 2)]) await add(queue, wanted);
  await add(queue, { run: 'urgent', tenant: 'a', priority: 9 });
  assert.deepEqual(await queue.places(['urgent', 'a-5-0', 'a-5-1', 'b-5-1']), [
    { at: 'waiting', before: 0 },
    { at: 'waiting', before: 2 },
    { at: 'waiting', before: 4 },
    { at: 'waiting', before: 3 },
  ]);
});

test('adding a run again takes no turn', async () => {
  const queue = newQueue();
  const [first, second] = of('a', 2);
  assert.ok(first && second);
  for (let i = 0; i < 20; i++) await add(queue, first);
  for (const wanted of [second, ...of('b', 2)]) await add(queue, wanted);
  assert.deepEqual(await served(queue), ['a-5-0', 'b-5-0', 'a-5-1', 'b-5-1']);
});

test('a removed ticket leaves its turn to those behind it', async () => {
  const queue = newQueue();
  for (const wanted of [...of('a', 80), ...of('b', 40)]) await add(queue, wanted);
  for (const { run } of of('a', 60)) await queue.remove(run);
  const order = await served(queue);
  assert.deepEqual(order.slice(0, 4), ['a-5-60', 'b-5-0', 'a-5-61', 'b-5-1']);
});

test('delayed tickets take their turns when they are due: waiting saves up none', async () => {
  const queue = newQueue();
  const notBefore = new Date(Date.now() + 500);
  for (const wanted of of('late', 10)) await add(queue, { ...wanted, notBefore });
  const [gate, ...others] = of('b', 11);
  assert.ok(gate);
  await add(queue, gate);
  const held = Promise.withResolvers<Served>();
  await using consumer = consume(queue, ({ id }) =>
    id === gate.run ? held.promise : Promise.resolve({ kind: 'done' }),
  );
  await consumer.first(1);
  for (const wanted of others) await add(queue, wanted);
  await until('they are due', async () => Date.now() > notBefore.getTime());
  held.resolve({ kind: 'done' });
  const order = (await consumer.first(21)).slice(1);
  const fair = order.slice(0, 10).filter((run) => run.startsWith('late')).length;
  assert.ok(fair >= 4 && fair <= 6, `of the first ten, ${fair} were late: ${order.join(' ')}`);
});

test('after very many rounds they are counted anew while tickets wait, and the order stays', async () => {
  const name = nextName();
  const queue = queues.of(name);
  const redis = new Redis(settings.url);
  const round = `hotcell:${settings.installation}:round:${name}`;
  await redis.set(round, 99_990);
  const model = new FairOrder();
  for (const wanted of [...of('a', 60), ...of('b', 30), ...of('c', 5)]) {
    await add(queue, wanted);
    model.add(wanted);
  }
  assert.deepEqual(await served(queue), model.takeAll());
  assert.ok(Number(await redis.get(round)) < 100);
  redis.disconnect();
});
