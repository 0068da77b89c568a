import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { pytest, pythonWithClient } from '../support/python-client.ts';
import { spawnWorker } from '../support/real-worker.ts';

/** The Python client as it is released, against a producer, a worker and real cells. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let worker: Child;
let python: string;

before(async () => {
  bed = await openBed();
  python = await pythonWithClient(bed);
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  worker = await spawnWorker(bed, house, 'one', { HOTCELL_QUEUES: 'runc' });
});
after(async () => {
  await settle(house, producer);
  await worker.stop();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

async function passes(...files: string[]): Promise<void> {
  const env = {
    HOTCELL_URL: producer.url,
    HOTCELL_API_KEY: await producer.key(),
    TEST_ADMIN_KEY: await producer.key('admin'),
  };
  const { code, stdout, stderr } = await pytest(bed, python, files, env);
  assert.equal(code, 0, `${stdout.slice(-100_000)}\n${stderr}`);
}

test('runs, logs, waits and refusals are what the Python client says they are', () => passes('test_runs.py'));

test('outputs, snapshots and DataFrames pass through the Python client unchanged', () => passes('test_outputs.py'));
