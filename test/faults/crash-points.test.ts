import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import { asleep, type Child, spawnNode } from '../support/child.ts';
import { digestOf } from '@hotcell/contract/digest.ts';
import { accept } from '@hotcell/producer/accept.ts';
import { echoQueue } from '../support/echo.ts';
import { openHouse, specFor } from '../support/house.ts';
import { resultOf, settled } from '../support/promise.ts';
import { points } from './points.ts';

const root = resolve(import.meta.dirname, '../..');
let bed: Bed;
const reached: string[] = [];

before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

type How = 'kill' | 'stop';

/** Until the armed point was reached there. */
async function fallen(child: Child, point: string, how: How): Promise<void> {
  await child.saying(`{"crashPoint":"${point}","how":"${how}"}`);
  if (how === 'kill') assert.equal((await child.ended).signal, 'SIGKILL');
  // It says so before it sleeps: who wakes it in between wakes nobody, and it sleeps on.
  else await asleep(child);
  reached.push(`${point}:${how}`);
}

const crashAt = (point: string, how: How) => ({ HOTCELL_CRASH_AT: `${point}:${how}` });

/** All of them at once would only wait for the machine; a few at a time wait for locks to run out together. */
async function inLanes(lanes: number, items: readonly string[], work: (item: string) => Promise<void>): Promise<void> {
  const queue = [...items];
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
        const point = item;
        await work(point).catch((cause: unknown) => {
          throw new Error(`at ${point}`, { cause });
        });
      }
    }),
  );
}

async function workerFalls(point: string, how: How): Promise<void> {
  await using house = await openHouse(bed);
  const { run } = await house.submit('print hello\noutput something');
  const env = await house.settings('worker', { HOTCELL_WORKER_NAME: 'victim', ...crashAt(point, how) });
  await using victim = spawnNode('test/faults/victims/worker.ts', env);
  await fallen(victim, point, how);
  await house.worker('rescuer');
  const result = await resultOf(house, run);
  assert.equal(result.outcome, 'succeeded');
  if (how === 'stop') {
    victim.kill('SIGCONT');
    await victim.stop();
  }
  await settled(house, [run]);
}

async function producerFalls(point: string, how: How): Promise<void> {
  await using house = await openHouse(bed);
  const env = await house.settings('producer', crashAt(point, how));
  const key = 'asked twice';
  await using victim = spawnNode('test/faults/victims/producer.ts', env, ['accept', house.tenant, key]);
  await fallen(victim, point, how);
  await house.worker('rescuer');
  const idempotency = { key, body: digestOf(key) };
  const ask = () =>
    accept(house.producer, { spec: specFor(house.tenant, 'print hello'), queue: echoQueue, idempotency });
  const { run } = await ask();
  if (how === 'stop') victim.kill('SIGCONT');
  if (how === 'stop') await victim.ended;
  assert.equal((await resultOf(house, run)).outcome, 'succeeded');
  assert.equal((await ask()).run, run);
  house.reconciler();
  await settled(house, [run]);
}

async function cancelFalls(point: string, how: How): Promise<void> {
  await using house = await openHouse(bed);
  const { run } = await house.submit('print hello');
  const env = await house.settings('producer', crashAt(point, how));
  await using victim = spawnNode('test/faults/victims/producer.ts', env, ['cancel', house.tenant, run]);
  await fallen(victim, point, how);
  // The mark is in the bucket, and nobody was told of it: recovery tells.
  await house.producer.queues.remove(echoQueue, run);
  house.reconciler();
  await house.worker('rescuer');
  const result = await resultOf(house, run);
  assert.equal(result.outcome, 'cancelled');
  assert.match(result.reason, /by the victim: because/);
  if (how === 'stop') victim.kill('SIGCONT');
  if (how === 'stop') await victim.ended;
  await settled(house, [run]);
}

async function recoveryFalls(point: string, how: How): Promise<void> {
  await using house = await openHouse(bed);
  const { run } = await house.submit('print hello');
  await house.producer.queues.remove(echoQueue, run);
  const env = await house.settings('producer', crashAt(point, how));
  await using victim = spawnNode('test/faults/victims/producer.ts', env, ['recover']);
  await fallen(victim, point, how);
  await house.worker('rescuer');
  house.reconciler();
  assert.equal((await resultOf(house, run)).outcome, 'succeeded');
  if (how === 'stop') victim.kill('SIGCONT');
  if (how === 'stop') await victim.stop();
  await settled(house, [run]);
}

async function notaryFalls(point: string, how: How): Promise<void> {
  await using house = await openHouse(bed);
  await house.worker('worker');
  const { run } = await house.submit('print hello');
  const env = await house.settings('notary', crashAt(point, how));
  await using victim = spawnNode('notary/main.ts', env);
  await fallen(victim, point, how);
  if (how === 'stop') victim.kill('SIGCONT');
  if (how === 'stop') await victim.stop();
  await settled(house, [run]);
}

for (const how of ['kill', 'stop'] as const) {
  const verb = how === 'kill' ? 'killed' : 'put to sleep';
  test(`a worker ${verb} at any step loses nothing and repeats nothing`, () =>
    inLanes(12, points.worker, (point) => workerFalls(point, how)));
  test(`a producer ${verb} at any step of accepting has promised one run or none`, () =>
    inLanes(4, points.producer, (point) => producerFalls(point, how)));
  test(`a cancel whose producer is ${verb} is kept`, () =>
    inLanes(1, points.cancel, (point) => cancelFalls(point, how)));
  test(`recovery that is ${verb} is taken up by the next`, () =>
    inLanes(2, points.recovery, (point) => recoveryFalls(point, how)));
  test(`a notary ${verb} at any step is made up for by the next pass`, () =>
    inLanes(3, points.notary, (point) => notaryFalls(point, how)));
}

test('every step that is named in these parts was fallen at, by death and by sleep', () => {
  const files = globSync('{producer/*.ts,executor-worker/*.ts,notary/*.ts}', { cwd: root });
  const named = files.flatMap((file) =>
    [...readFileSync(resolve(root, file), 'utf8').matchAll(/crashPoint\('([^']+)'\)/g)].flatMap(
      ([, name]) => name ?? [],
    ),
  );
  const ours = named.filter((name) => /^(accept|cancel|reconcile|worker|notary)\./.test(name)).toSorted();
  assert.deepEqual(ours, Object.values(points).flat().toSorted());
  const wanted = ours.flatMap((name) => [`${name}:kill`, `${name}:stop`]).toSorted();
  assert.deepEqual(reached.toSorted(), wanted);
});
