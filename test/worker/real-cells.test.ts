import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { cancelRun } from '@hotcell/producer/cancel.ts';
import { must } from '@hotcell/setup/command.ts';
import { type Bed, engineSocket, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { type House, openHouse } from '../support/house.ts';
import { resultOf, running, settled } from '../support/promise.ts';
import { pinPolicy, type RealRuns, spawnWorker } from '../support/real-worker.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';
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
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const python = (code: string) => ({
  spec: { ...real.spec, blocks: [{ language: 'python', code }] },
  queue: real.queue,
});
/** Both workers see the cells of one engine; a keeper is its worker's own. */
const byEngine = { HOTCELL_CELLS: 'engine' };

/** What is left in the engine. A keeper's cells are looked for at the end of all tests, by their cgroups. */
const cells = async () => {
  const filters = ['--filter', `label=hotcell.installation=${house.id}`, '--filter', 'label=hotcell.role=cell'];
  return (await must(['docker', 'ps', '--all', ...filters, '--format', '{{.Names}}'])).split('\n').filter(Boolean);
};

async function goneBy(worker: Child): Promise<void> {
  await worker.stop();
  assert.deepEqual(await cells(), []);
}

test('a worker process runs code in a sealed cell and commits the result', async () => {
  await using worker = await spawnWorker(bed, house, 'one');
  const code = "print('hello'); open('/outputs/a.txt','w').write('something')";
  const { run } = await house.submit('', python(code));
  const result = await resultOf(house, run, 120_000);
  assert.equal(result.outcome, 'succeeded', result.reason);
  assert.equal(result.outputs.files[0]?.path, 'a.txt');
  assert.equal(result.policy?.name, 'sealed');
  assert.ok(result.posture);
  await settled(house, [run]);
  await goneBy(worker);
});

test('a killed worker’s cell ends, and another worker takes its run', async () => {
  await using killed = await spawnWorker(bed, house, 'killed', byEngine);
  const { run } = await house.submit('', python('import time; print("begun", flush=True); time.sleep(600)'));
  assert.equal(await running(house, run), 'killed');
  killed.kill('SIGKILL');
  await killed.ended;
  await using rescuer = await spawnWorker(bed, house, 'rescuer', byEngine);
  assert.equal(await running(house, run, 2), 'rescuer');
  await cancelRun(house.producer, { tenant: house.tenant, run, by: 'anna', reason: 'enough' });
  const result = await resultOf(house, run, 120_000);
  assert.equal(result.outcome, 'cancelled');
  assert.deepEqual(
    result.attempts.map(({ worker, error }) => [worker, error?.code]),
    [
      ['killed', 'worker_gone'],
      ['rescuer', undefined],
    ],
  );
  await settled(house, [run]);
  await until('the dead worker’s cell is removed', async () => (await cells()).length === 0, 120_000);
  await goneBy(rescuer);
});

test('an engine that breaks off while a cell is made costs one attempt, not the run', async () => {
  const folder = await bed.shortFolder();
  await using proxy = await openTcpProxy({ path: engineSocket }, join(folder, 's'));
  await using worker = await spawnWorker(bed, house, 'one', { HOTCELL_DOCKER_HOST: `unix://${join(folder, 's')}` });
  let torn = 0;
  proxy.tears = (line) => /^POST .*containers\/[^/]+\/start/.test(line) && torn++ === 0;
  const { run } = await house.submit('', python('print(1)'));
  const result = await resultOf(house, run, 120_000);
  assert.equal(result.outcome, 'succeeded', result.reason);
  assert.deepEqual(
    result.attempts.map(({ error }) => error?.code),
    ['engine_unavailable', undefined],
  );
  await settled(house, [run]);
  await goneBy(worker);
});
