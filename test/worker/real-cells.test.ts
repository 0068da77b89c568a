import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import { pinPolicy, type RealRuns, spawnWorker } from '../support/real-worker.ts';
import type { Child } from '../support/child.ts';
import { type House, openHouse } from '../support/house.ts';
import { resultOf, settled } from '../support/promise.ts';

let bed: Bed;
let house: House;
let real: RealRuns;
let one: Child;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  real = await pinPolicy(bed, house, 'analytics');
  one = await spawnWorker(bed, house, 'real-one');
});
after(async () => {
  await one[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const python = (code: string) => ({
  spec: { ...real.spec, blocks: [{ language: 'python', code }] },
  queue: real.queue,
});

test('a worker process runs code in a sealed cell and commits what came of it', async () => {
  const code = "print('hello'); open('/outputs/a.txt','w').write('something')";
  const { run } = await house.submit('', python(code));
  const result = await resultOf(house, run, 120_000);
  assert.equal(result.outcome, 'succeeded', result.reason);
  assert.equal(result.outputs.files[0]?.path, 'a.txt');
  assert.equal(result.policy?.name, 'analytics');
  assert.ok(result.posture);
  await settled(house, [run]);
});
