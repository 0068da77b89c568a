import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import { spawnNode } from '../support/child.ts';
import { openHouse } from '../support/house.ts';
import { settled } from '../support/promise.ts';
import { namedCrashPoints } from '../support/runner/crash-points.ts';
import { crashAt, fallen, type How, atEach } from './falling.ts';
import { points } from './points.ts';

let bed: Bed;

before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

async function notaryFalls(point: string, how: How): Promise<void> {
  await using house = await openHouse(bed);
  await house.worker('worker');
  const { run } = await house.submit('print hello');
  const env = await house.settings('notary', crashAt(point, how));
  await using victim = spawnNode('notary/notary-main.ts', env);
  await fallen(victim, point, how);
  if (how === 'stop') victim.kill('SIGCONT');
  if (how === 'stop') await victim.stop();
  await settled(house, [run]);
}

for (const how of ['kill', 'stop'] as const) {
  const verb = how === 'kill' ? 'killed' : 'put to sleep';
  test(`the next pass completes what a notary ${verb} at any step left`, () =>
    atEach(3, points.notary, (point) => notaryFalls(point, how)));
}

test('these tests cover every named crash point of these parts', () => {
  const ours = /^(accept|attempt|cancel|reconcile|worker|commit|notary)\.|^gc-/;
  const named = namedCrashPoints(resolve(import.meta.dirname, '../..')).filter((name) => ours.test(name));
  assert.deepEqual(named, [...new Set(Object.values(points).flat())].toSorted());
});
