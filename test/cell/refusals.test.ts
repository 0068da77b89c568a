import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { Cores } from '@hotcell/executor-worker/cell/cores.ts';
import { openEngineMaker } from '@hotcell/executor-worker/cell/engine-maker.ts';
import { InitFile, type InitProgram } from '@hotcell/executor-worker/cell/host-files.ts';
import { StuckCells } from '@hotcell/executor-worker/cell/stuck-cells.ts';
import { usualPatrolTimes } from '@hotcell/executor-worker/cell/patrol.ts';
import { openCell } from '@hotcell/executor-worker/cell/seal.ts';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import { Engine } from '@hotcell/outside/engine/engine.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { type Bed, engineSocket, openBed } from '../support/bed.ts';
import { openTestCells, type TestCells, testDisk, testUids } from '../support/cells.ts';

let bed: Bed;
let made: TestCells;
const engine = new Engine(engineSocket);
before(async () => {
  bed = await openBed();
  made = await openTestCells(bed, 'refusals', bed.id(), { dockerHost: engineSocket });
});
after(async () => {
  await made?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

/** A cell-init that differs from the one this worker knows. */
class StrangeInit extends InitFile {
  override async program(): Promise<InitProgram> {
    return { ...(await super.program()), digest: sha256('another program') };
  }
}

async function depsWith(init: InitFile) {
  const { installation, worker, stateDir } = made;
  return {
    maker: await openEngineMaker(
      engine,
      { installation, worker, stateDir, uids: testUids, diskBytesPerSecond: testDisk },
      init,
    ),
    worker,
    ownCells: new Map(),
    cores: new Cores(),
    stuck: new StuckCells(),
    patrolTimes: usualPatrolTimes,
    log: openLog('refusals', 'silent'),
  };
}

async function nothingIsLeft(): Promise<void> {
  const left = await engine.list([`hotcell.worker=${made.worker}`]);
  assert.deepEqual(
    left.map(({ name }) => name),
    [],
  );
  assert.deepEqual(await readdir(join(made.stateDir, 'cells')), []);
}

for (const runtime of ['runc', 'gvisor'] as const) {
  test(`on ${runtime} a cell that differs in one thing gets no code, and the difference is named`, async () => {
    const deps = await depsWith(new StrangeInit(made.stateDir));
    await assert.rejects(
      openCell(made.plan(runtime), deps, () => undefined),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, 'posture_differs');
        assert.match(error.message, /init is [0-9a-f]{64} and should be/);
        return true;
      },
    );
    assert.equal(deps.ownCells.size, 0);
    await nothingIsLeft();
  });

  test(`on ${runtime} an init that cannot start fails the cell, with the runtime’s message`, async () => {
    // The file that is mounted in its place exists but is not a program.
    const init = Object.assign(new StrangeInit(made.stateDir), { path: join(made.stateDir, 'no-program') });
    const broken = await depsWith(init);
    const { writeFile } = await import('node:fs/promises');
    await writeFile(join(made.stateDir, 'no-program'), 'not a program\n', { mode: 0o555 });
    await assert.rejects(
      openCell(made.plan(runtime), broken, () => undefined),
      { code: 'cell_failed' },
    );
    await nothingIsLeft();
  });
}

const refused: Record<string, { plan: () => Partial<CellPlan>; code: string; said: RegExp }> = {
  'an image that is not there': {
    plan: () => ({ image: { ref: 'hotcell/none:1', digest: `sha256:${'1'.repeat(64)}` } }),
    code: 'image_missing',
    said: /hotcell\/none:1/,
  },
  'a seccomp profile that is not the policy’s': {
    plan: () => ({ seccomp: {} }),
    code: 'posture_differs',
    said: /seccomp profile/,
  },
  'an input that is not there': {
    plan: () => ({ mounts: [{ source: '/nowhere/at/all', target: '/inputs' }] }),
    code: 'cell_failed',
    said: /\/nowhere\/at\/all/,
  },
};
for (const [what, { plan, code, said }] of Object.entries(refused))
  test(`${what} makes no cell and is named`, async () => {
    await assert.rejects(made.cells.open(made.plan('runc', plan())), (error: Error & { code?: string }) => {
      assert.equal(error.code, code, error.message);
      assert.match(error.message, said);
      return true;
    });
    await nothingIsLeft();
  });

test('a missing engine is reported as unavailable', async () => {
  const absent = new Engine(join(made.stateDir, 'no-socket'));
  await assert.rejects(absent.version(), { code: 'engine_unavailable' });
});

test('a runtime that the engine does not know is reported by name', async () => {
  const asked = engine.create('hotcell-test-no-runtime', {
    Image: bed.images.minimal.digest,
    HostConfig: { Runtime: 'no-such-runtime' },
  });
  await assert.rejects(asked, { code: 'runtime_missing' });
});
