import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { cancelRun } from '@hotcell/producer/cancel.ts';
import { must } from '@hotcell/setup/command.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { openBentEngine } from '../support/bent-engine.ts';
import { type House, openHouse } from '../support/house.ts';
import { resultOf, running, settled } from '../support/promise.ts';
import { pinPolicy, type RealRuns, spawnWorker } from '../support/real-worker.ts';
import { until } from '../support/until.ts';

let bed: Bed;
let house: House;
let real: RealRuns;
before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  real = await pinPolicy(bed, house, 'sealed');
});
after(async () => {
  await house?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

const submit = (code: string) =>
  house.submit('', { spec: { ...real.spec, blocks: [{ language: 'python', code }] }, queue: real.queue });
const statusOf = async (run: string) => (await house.producer.live.statusesOf([run]))[0];

/** A worker whose engine changes one option of every cell it makes. */
async function bentWorker(name: string) {
  const path = join(await bed.shortFolder(), 's');
  const stack = new AsyncDisposableStack();
  stack.use(await openBentEngine(path, '"OomScoreAdj":500', '"OomScoreAdj":400'));
  const worker = await spawnWorker(bed, house, name, { HOTCELL_DOCKER_HOST: `unix://${path}` });
  stack.use(worker);
  return { stop: () => worker.stop(), [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

async function noCellIsLeft(): Promise<void> {
  const filters = ['--filter', `label=hotcell.installation=${house.id}`, '--filter', 'label=hotcell.role=cell'];
  assert.equal(await must(['docker', 'ps', '--all', ...filters, '--format', '{{.Names}}']), '');
}

test('a run is given up at once, naming the difference, if its only worker’s cells violate the policy', async () => {
  await using worker = await bentWorker('alone');
  const { run } = await submit('print("never")');
  const result = await resultOf(house, run, 120_000);
  assert.equal(result.outcome, 'lost');
  assert.match(result.reason, /OomScoreAdj is 400 and should be 500/);
  assert.deepEqual(
    result.attempts.map(({ error }) => error?.code),
    ['posture_differs'],
  );
  assert.equal(result.logs.bytes, 0, 'the cell got no code');
  await settled(house, [run]);
  await worker.stop();
  await noCellIsLeft();
});

test('a run waits for another worker when one worker’s cells violate the policy, and says why', async () => {
  // The good worker is busy, so the other one has to try first.
  await using good = await spawnWorker(bed, house, 'good', { HOTCELL_RUNS: '1' });
  const { run: first } = await submit('import time; time.sleep(600)');
  assert.equal(await running(house, first), 'good');
  await using bent = await bentWorker('bent');
  const { run } = await submit('print("hello")');
  const waiting = await until(
    'the run waits for another worker',
    async () => {
      const beat = await statusOf(run);
      return beat?.waiting?.code === 'not_here' && beat.waiting;
    },
    120_000,
  );
  assert.match(waiting.message, /bent/);
  await cancelRun(house.producer, { tenant: house.tenant, run: first, by: 'anna', reason: 'enough' });
  const result = await resultOf(house, run, 120_000);
  assert.equal(result.outcome, 'succeeded', result.reason);
  assert.deepEqual(
    result.attempts.map(({ worker, error }) => [worker, error?.code]),
    [
      ['bent', 'posture_differs'],
      ['good', undefined],
    ],
  );
  await resultOf(house, first, 120_000);
  await settled(house, [run, first]);
  await good.stop();
  await bent.stop();
  await noCellIsLeft();
});
