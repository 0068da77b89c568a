import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { languages } from '@hotcell/contract/languages.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { Engine } from '@hotcell/outside/engine/engine.ts';
import { type Bed, engineSocket, openBed } from '../support/bed.ts';
import { openTestCells } from '../support/cells.ts';
import { testLimits } from '../support/limits.ts';
import { type House, openHouse } from '../support/house.ts';
import { resultOf, settled } from '../support/promise.ts';
import { pinPolicy, spawnWorker } from '../support/real-worker.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

let bed: Bed;
let house: House;
before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
});
after(async () => {
  await house?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

const engine = new Engine(engineSocket);
const shortTimes = { lookMs: 50, handOverMs: 60_000, silenceMs: 500, killMs: 500 };
const job = (code: string) => prepareJob({ blocks: [{ language: 'python', code }], files: [] }, languages);

test('a runtime that falls silent costs the attempt and does not block the worker', async () => {
  const path = join(await bed.shortFolder(), 's');
  await using proxy = await openTcpProxy({ path: engineSocket }, path);
  await using made = await openTestCells(bed, 'frozen', bed.id(), { dockerHost: path, patrolTimes: shortTimes });
  const limits = { ...testLimits, timeoutSeconds: 2, blockTimeoutSeconds: 2, graceSeconds: 0 };
  const cell = await made.cells.open(made.plan('runc', { limits }));
  const listen = async () => {
    for await (const event of cell.run(job('import time; print("here", flush=True); time.sleep(60)')))
      if (event.type === 'log') proxy.freeze();
  };
  await assert.rejects(listen(), { code: 'cell_failed', message: /did not end when it should have/ });
  proxy.heal();
  await cell.destroy();
  assert.equal(await engine.inspect(cell.container), undefined);
});

test('a busy cell may be silent for as long as its limits allow', async () => {
  await using made = await openTestCells(bed, 'busy', bed.id(), { patrolTimes: shortTimes });
  const cell = await made.cells.open(made.plan('runc'));
  try {
    const events = await Array.fromAsync(cell.run(job('import time; time.sleep(3)')));
    assert.equal(events.at(-1)?.type, 'end');
  } finally {
    await cell.destroy();
  }
});

test('a cell that cannot be removed is reported with the reason, does not hold up others, and is removed later', async () => {
  const path = join(await bed.shortFolder(), 's');
  await using proxy = await openTcpProxy({ path: engineSocket }, path);
  await using made = await openTestCells(bed, 'kept', bed.id(), { dockerHost: path });
  await using dead = await openTestCells(bed, 'dead', made.installation, { dockerHost: engineSocket });
  const cells = [await dead.cells.open(dead.plan('runc')), await dead.cells.open(dead.plan('runc'))];
  const [stuck, other] = await Promise.all(cells.map(async ({ container }) => await engine.inspect(container)));
  assert.ok(stuck && other);
  proxy.tears = (line) => line.startsWith('DELETE') && line.includes(stuck.Id);
  await made.cells.reap(() => false);
  assert.equal(await engine.inspect(other.Id), undefined);
  assert.deepEqual(
    made.cells.stuck().map(({ container, state }) => [`/${container}`, state]),
    [[stuck.Name, 'destroying']],
  );
  assert.match(made.cells.stuck()[0]?.problem ?? '', /Could not reach the container engine to remove/);
  proxy.tears = () => false;
  await made.cells.reap(() => false);
  assert.deepEqual([made.cells.stuck(), await engine.inspect(stuck.Id)], [[], undefined]);
});

test('status names a cell that its worker cannot remove, and its run still gets its result', async () => {
  const path = join(await bed.shortFolder(), 's');
  await using proxy = await openTcpProxy({ path: engineSocket }, path);
  let started = false;
  proxy.tears = (line) => {
    started ||= /^POST .*\/start /.test(line);
    return started && line.startsWith('DELETE');
  };
  const real = await pinPolicy(bed, house, 'sealed');
  await using worker = await spawnWorker(bed, house, 'one', { HOTCELL_DOCKER_HOST: `unix://${path}` });
  const spec = { ...real.spec, blocks: [{ language: 'python', code: 'print(1)' }] };
  const { run } = await house.submit('', { spec, queue: real.queue });
  assert.equal((await resultOf(house, run, 120_000)).outcome, 'succeeded');
  const cells = async () => (await house.producer.live.workers.all()).flatMap((one) => one.cells);
  const told = await until('the worker reports the cell that is left', async () =>
    (await cells()).find(({ problem }) => problem),
  );
  assert.equal(told.state, 'destroying');
  assert.ok(await engine.inspect(told.container), 'it is there');
  const used = async () => (await house.producer.live.workers.all()).map((one) => one.used.runs);
  await worker.saying('its run’s inputs and room stay held');
  assert.deepEqual(await used(), [1]);
  proxy.tears = () => false;
  await until('the cell is gone', async () => (await cells()).length === 0);
  await until('its room is back', async (note) => note(await used())[0] === 0);
  assert.equal(await engine.inspect(told.container), undefined);
  await settled(house, [run]);
  await worker.stop();
});
