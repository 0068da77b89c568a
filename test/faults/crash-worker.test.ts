import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import { spawnNode } from '../support/child.ts';
import { openHouse } from '../support/house.ts';
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

for (const how of ['kill', 'stop'] as const) {
  const verb = how === 'kill' ? 'killed' : 'put to sleep';
  test(`a worker ${verb} at any step loses nothing and repeats nothing`, () =>
    atEach(12, points.worker, (point) => workerFalls(point, how)));
}
