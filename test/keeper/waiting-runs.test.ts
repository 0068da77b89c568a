import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { readResult } from '@hotcell/record/commit.ts';
import { type Bed, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { freezeTree } from '../support/freezing.ts';
import { type House, openHouse } from '../support/house.ts';
import { openOwnKeeper, type OwnKeeper } from '../support/own-keeper.ts';
import { resultOf, settled } from '../support/promise.ts';
import { pinPolicy, type RealRuns, spawnWorker } from '../support/real-worker.ts';
import { until } from '../support/until.ts';
import { verdictsOf } from '../support/verified.ts';

/** A worker that keeps waiting cells, from the queue to the record, and what its death or its keeper's leaves. */
let bed: Bed;
let house: House;
let real: RealRuns;
let keeper: OwnKeeper;
let stateDir: string;
let more: Pick<Spec, 'inputs' | 'env'>;
const runs: string[] = [];

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  real = await pinPolicy(bed, house, 'sealed');
  stateDir = await bed.folder('waiting-worker');
  keeper = await openOwnKeeper(bed, join(stateDir, 'cache'), house.id);
  const { snapshot, locations } = await freezeTree(house, house.tenant, { 'a.txt': 'one', 'deep/b.txt': 'two' });
  more = { inputs: [{ name: 'data', snapshot, locations }], env: { JOB_MODE: 'late', OMP_NUM_THREADS: '7' } };
});
after(async () => {
  await keeper?.[Symbol.asyncDispose]();
  await house?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

const start = (env: Record<string, string> = {}) =>
  spawnWorker(bed, house, 'waiting', {
    HOTCELL_STATE_DIR: stateDir,
    HOTCELL_CELLS: 'keeper',
    HOTCELL_KEEPER_SOCKET: keeper.socket,
    HOTCELL_DOCKER_HOST: '/no/engine/here',
    HOTCELL_WAITING_CELLS: '2',
    ...env,
  });

async function submit(code: string, spec: Partial<Spec> = {}): Promise<string> {
  const { run } = await house.submit('', {
    spec: { ...real.spec, blocks: [{ language: 'python', code }], ...spec },
    queue: real.queue,
  });
  runs.push(run);
  return run;
}

const look =
  'import os; print(os.environ["JOB_MODE"], open("/inputs/data/deep/b.txt").read(), open("/inputs/params.json").read())';
const print = async (spec: Partial<Spec> = {}): Promise<Result> =>
  await resultOf(house, await submit(spec.env ? look : 'print(1)', spec));

const beats = async () => (await house.producer.live.workers.all()).flatMap(({ cells }) => cells);
const oneWaits = () => until('a cell waits', async () => (await beats()).find(({ state }) => state === 'waiting')?.id);
const kept = async () => (await keeper.door.ask({ ask: 'list' })).map(({ cell }) => cell);

async function nothingIsLeft(): Promise<void> {
  await until('the keeper has no cell', async () => (await kept()).length === 0);
  await until('no run has a folder', async () => (await readdir(join(stateDir, 'cache', 'runs'))).length === 0);
}

async function stopped(worker: Child): Promise<void> {
  worker.kill('SIGTERM');
  assert.equal((await worker.ended).code, 0);
  await nothingIsLeft();
}

suite('a worker with waiting cells', () => {
  test('runs the second run of a class in a cell that waited, with inputs, and its evidence verifies', async () => {
    await using worker = await start();
    const first = await print();
    assert.deepEqual([first.timings.warm, first.timings.cold], [false, 'new']);
    const waits = await oneWaits();
    const second = await print(more);
    assert.equal(second.outcome, 'succeeded', second.reason);
    assert.deepEqual([second.timings.warm, second.timings.cold], [true, undefined]);
    assert.equal(second.posture?.own?.['name'], waits);
    assert.deepEqual(Object.keys(second.posture?.given?.env ?? {}), ['JOB_MODE', 'OMP_NUM_THREADS']);
    const verdicts = await verdictsOf(house);
    assert.deepEqual(
      runs.map((run) => verdicts.get(run)?.findings),
      runs.map(() => []),
    );
    await settled(house, runs);

    // None waits while it drains.
    await oneWaits();
    await house.producer.live.workers.order('waiting', 'drain');
    await nothingIsLeft();
    await house.producer.live.workers.order('waiting', 'resume');
    await print();
    await oneWaits();
    await stopped(worker);
  });

  test('goes on when its keeper dies while cells wait', async () => {
    await using worker = await start();
    await print();
    await oneWaits();
    await keeper.kill();
    const run = await submit('print(1)');
    await keeper.start();
    await succeeds(run);
    await settled(house, runs);
    await stopped(worker);
  });

  test('loses no run and leaves nothing when it is killed while it fills, hands over or moves inputs', async () => {
    let last = await submit('print(1)');
    for (const point of ['cell-waiting', 'cell-proven-again', 'inputs-moved', 'cell-handed-over']) {
      // A run that had ended when the one before died asks for no cell any more.
      const hasEnded = (await readResult(house.store, house.tenant, last)) !== undefined;
      await using victim = await start({ HOTCELL_CRASH_AT: `${point}:kill` });
      if (hasEnded) last = await submit('print(1)');
      if (point !== 'cell-waiting') {
        // It gets a cell of its own, because none waits yet.
        await succeeds(last);
        await oneWaits();
        last = await submit(look, more);
      }
      await victim.saying(`{"crashPoint":"${point}","how":"kill"}`);
      assert.equal((await victim.ended).signal, 'SIGKILL');
    }
    await using rescuer = await start();
    const { attempts } = await succeeds(last);
    assert.equal(attempts.length, 2);
    await settled(house, runs);
    await stopped(rescuer);
  });
});

async function succeeds(run: string): Promise<Result> {
  const result = await resultOf(house, run);
  assert.equal(result.outcome, 'succeeded', result.reason);
  return result;
}
