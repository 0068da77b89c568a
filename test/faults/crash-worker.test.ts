import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Spec } from '@hotcell/contract/spec.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { spawnNode } from '../support/child.ts';
import { openHouse } from '../support/house.ts';
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

/** A run that succeeds at once, or one that fails twice because its submitter asked for another try. */
const scripts = {
  succeeded: { code: 'print hello\noutput something' },
  failed: { code: 'exit 3', spec: { retry: { on: ['failed' as const], max: 1 } } },
};

async function workerFalls(point: string, how: How, outcome: keyof typeof scripts = 'succeeded'): Promise<void> {
  await using house = await openHouse(bed);
  const { code, ...more } = scripts[outcome] as { code: string; spec?: Partial<Spec> };
  const { run } = await house.submit(code, more);
  const env = await house.settings('worker', { HOTCELL_WORKER_NAME: 'victim', ...crashAt(point, how) });
  await using victim = spawnNode('test/faults/victims/worker.ts', env);
  await fallen(victim, point, how);
  await house.worker('rescuer');
  const result = await resultOf(house, run);
  assert.equal(result.outcome, outcome);
  if (how === 'stop') {
    victim.kill('SIGCONT');
    await victim.stop();
  }
  await settled(house, [run]);
  await oneSignedResult(house, run);
}

for (const how of ['kill', 'stop'] as const) {
  const verb = how === 'kill' ? 'killed' : 'put to sleep';
  test(`a worker ${verb} at any step loses nothing and repeats nothing`, () =>
    atEach(12, points.worker, (point) => workerFalls(point, how)));

  test(`a worker ${verb} between the evidence of an attempt and its record leaves one signed result all the same`, () =>
    atEach(1, points.attempt, (point) => workerFalls(point, how, 'failed')));
}
