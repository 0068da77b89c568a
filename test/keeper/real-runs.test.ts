import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { cancelRun } from '@hotcell/producer/cancel.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { wholePosture } from '@hotcell/record/posture-store.ts';
import { type House, openHouse } from '../support/house.ts';
import { openOwnKeeper, type OwnKeeper } from '../support/own-keeper.ts';
import { resultOf, running, settled } from '../support/promise.ts';
import { pinPolicy, type RealRuns, spawnWorker } from '../support/real-worker.ts';

let bed: Bed;
let house: House;
let real: RealRuns;
let keeper: OwnKeeper;
let worker: Awaited<ReturnType<typeof spawnWorker>>;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  real = await pinPolicy(bed, house, 'sealed');
  const stateDir = await bed.folder('kept-worker');
  keeper = await openOwnKeeper(bed, join(stateDir, 'cache'), house.id);
  worker = await spawnWorker(bed, house, 'kept', {
    HOTCELL_STATE_DIR: stateDir,
    HOTCELL_CELLS: 'keeper',
    HOTCELL_KEEPER_SOCKET: keeper.socket,
    // It needs no engine.
    HOTCELL_DOCKER_HOST: '/no/engine/here',
  });
});
after(async () => {
  await worker?.[Symbol.asyncDispose]();
  await keeper?.[Symbol.asyncDispose]();
  await house?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

const python = (code: string) => ({
  spec: { ...real.spec, blocks: [{ language: 'python', code }] },
  queue: real.queue,
});

test('a worker without an engine runs code in a cell of the keeper’s and commits the result', async () => {
  const { run } = await house.submit('', python("print('hello'); open('/outputs/a.txt','w').write('something')"));
  const result = await resultOf(house, run, 120_000);
  assert.equal(result.outcome, 'succeeded', result.reason);
  assert.equal(result.outputs.files[0]?.path, 'a.txt');
  assert.ok(result.posture);
  const posture = await wholePosture(house.store, house.tenant, result.posture);
  assert.equal(posture.outside['maker'], 'keeper');
  await settled(house, [run]);
});

test('a run that is cancelled ends, and its cell goes', async () => {
  const { run } = await house.submit('', python('import time; print("begun", flush=True); time.sleep(600)'));
  assert.equal(await running(house, run), 'kept');
  await cancelRun(house.producer, { tenant: house.tenant, run, by: 'anna', reason: 'enough' });
  assert.equal((await resultOf(house, run, 120_000)).outcome, 'cancelled');
  await settled(house, [run]);
});

test('a keeper that is away costs no run: the worker waits for it', async () => {
  await keeper.kill();
  const { run } = await house.submit('', python('print("later")'));
  await keeper.start();
  const result = await resultOf(house, run, 120_000);
  assert.equal(result.outcome, 'succeeded', result.reason);
  await settled(house, [run]);
});
