import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Engine } from '@hotcell/outside/engine/engine.ts';
import { type Bed, engineSocket, openBed } from '../support/bed.ts';
import { openTestCells, type TestCells } from '../support/cells.ts';
import { spawnDyingWorker } from '../support/dying-worker.ts';
import { until } from '../support/until.ts';

let bed: Bed;
let made: TestCells;
const engine = new Engine(engineSocket);
before(async () => {
  bed = await openBed();
  made = await openTestCells(bed, 'left-behind', bed.id(), { dockerHost: engineSocket });
});
after(async () => {
  await made?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

for (const runtime of ['runc', 'gvisor'] as const)
  test(`on ${runtime} a killed worker leaves no running cell, and the next worker removes the rest`, async () => {
    const dead = await openTestCells(bed, `dead-${runtime}`, made.installation, { dockerHost: engineSocket });
    const { child, cell } = await spawnDyingWorker(dead, dead.plan(runtime));
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    // Only the cell's own init can have ended it: no other worker knows of it yet.
    await until('the cell ends with its worker', async () => {
      const { State } = (await engine.inspect(cell.container)) ?? {};
      return State?.Running === false;
    });

    await made.cells.reap((worker) => worker === dead.worker);
    assert.ok(await engine.inspect(cell.container), 'a cell is left to its worker while that has a fresh heartbeat');

    await made.cells.reap(() => false);
    assert.equal(await engine.inspect(cell.container), undefined, 'a dead worker’s cell goes at once');
    assert.deepEqual(await readdir(join(dead.stateDir, 'cells')), [cell.id], 'its folder may be on another machine');

    await dead.cells.reap(() => true);
    assert.deepEqual(await readdir(join(dead.stateDir, 'cells')), []);
  });

test('a restarted worker removes its own earlier cell, although the cell is alive', async () => {
  const back = await openTestCells(bed, 'back', made.installation, { dockerHost: engineSocket });
  const { child, cell } = await spawnDyingWorker(back, back.plan('runc'));
  try {
    await back.cells.reap(() => true);
    assert.equal(await engine.inspect(cell.container), undefined);
    assert.deepEqual(await readdir(join(back.stateDir, 'cells')), []);
  } finally {
    child.kill('SIGKILL');
  }
});

test('the reaper leaves busy cells and other installations alone', async () => {
  const cell = await made.cells.open(made.plan('runc'));
  const foreign = `hotcell-test-foreign-${bed.installation.id}`;
  const labels = {
    'hotcell.managed': '1',
    'hotcell.installation': `${made.installation}other`,
    'hotcell.role': 'cell',
    'hotcell.worker': 'dead',
    'hotcell.deadline': '2020-01-01T00:00:00Z',
  };
  await engine.create(foreign, { Image: bed.images.minimal.digest, Cmd: ['/bin/minimal', 'exit'], Labels: labels });
  try {
    await made.cells.reap(() => false);
    assert.equal((await engine.inspect(cell.container))?.State.Running, true);
    assert.deepEqual(await readdir(join(made.stateDir, 'cells')), [cell.id]);
    assert.ok(await engine.inspect(foreign));
  } finally {
    await engine.remove(foreign);
    await cell.destroy();
  }
});
