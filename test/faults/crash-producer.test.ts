import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import { spawnNode } from '../support/child.ts';
import { digestOf } from '@hotcell/contract/digest.ts';
import { accept } from '@hotcell/producer/accept.ts';
import { echoQueue } from '../support/echo.ts';
import { openHouse } from '../support/house.ts';
import { specFor } from '../support/spec.ts';
import { oneSignedResult } from '../support/one-signed-result.ts';
import { resultOf, settled } from '../support/promise.ts';
import { crashAt, fallen, type How, atEach } from './falling.ts';
import { points } from './points.ts';

let bed: Bed;

before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

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
  // The mark is in the bucket and was announced to no one: recovery announces it.
  await house.producer.queues.of(echoQueue).remove(run);
  house.reconciler();
  await house.worker('rescuer');
  const result = await resultOf(house, run);
  assert.equal(result.outcome, 'cancelled');
  assert.match(result.reason, /by the victim: because/);
  if (how === 'stop') victim.kill('SIGCONT');
  if (how === 'stop') await victim.ended;
  await settled(house, [run]);
  await oneSignedResult(house, run);
}

async function recoveryFalls(point: string, how: How): Promise<void> {
  await using house = await openHouse(bed);
  const { run } = await house.submit('print hello');
  await house.producer.queues.of(echoQueue).remove(run);
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

// Waiting for a sleeper's locks to expire takes long: the other crashes go on beside it.
describe('producers', { concurrency: 3 }, () => {
  for (const how of ['kill', 'stop'] as const) {
    const verb = how === 'kill' ? 'killed' : 'put to sleep';
    test(`a producer ${verb} at any step of accepting has accepted one run or none`, () =>
      atEach(4, points.producer, (point) => producerFalls(point, how)));
    test(`a cancel is carried out although its producer is ${verb}`, () =>
      atEach(1, points.cancel, (point) => cancelFalls(point, how)));
    test(`a producer ${verb} between each two writes that end a run leaves one result, with its evidence`, () =>
      atEach(6, points.ending, (point) => cancelFalls(point, how)));
    test(`the next leader takes over recovery when its predecessor is ${verb}`, () =>
      atEach(2, points.recovery, (point) => recoveryFalls(point, how)));
  }
});
