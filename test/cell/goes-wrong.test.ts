import assert from 'node:assert/strict';
import { copyFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { languages } from '@hotcell/contract/languages.ts';
import { openCells } from '@hotcell/executor-worker/cell/open.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import { Engine } from '@hotcell/outside/engine/engine.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { must } from '@hotcell/setup/command.ts';
import { type Bed, engineSocket, openBed } from '../support/bed.ts';
import { openBentEngine } from '../support/bent-engine.ts';
import { ends, openTestCells, runIn, type TestCells, testDisk, testUids } from '../support/cells.ts';

let bed: Bed;
let made: TestCells;
const engine = new Engine(engineSocket);
before(async () => {
  bed = await openBed();
  made = await openTestCells(bed, 'goes-wrong', bed.id(), { dockerHost: engineSocket });
});
after(async () => {
  await made?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

async function refusesToOpen(cells: TestCells['cells'], plan: CellPlan, code: string, said: RegExp): Promise<void> {
  await assert.rejects(cells.open(plan), (error: Error & { code?: string }) => {
    assert.equal(error.code, code, error.message);
    assert.match(error.message, said);
    return true;
  });
  assert.deepEqual(await engine.list([`hotcell.worker=${made.worker}`]), []);
  assert.deepEqual(await readdir(join(made.stateDir, 'cells')), []);
}

test('an engine without gVisor is reported with the command that installs it', async () => {
  const path = join(await bed.folder('no-gvisor'), 's');
  await using _bent = await openBentEngine(path, '"Runtime":"runsc"', '"Runtime":"gone!"');
  const { installation, worker, stateDir } = made;
  await using cells = await openCells({
    dockerHost: path,
    installation,
    worker,
    stateDir,
    uids: testUids,
    diskBytesPerSecond: testDisk,
    log: openLog(worker, 'silent'),
  });
  await refusesToOpen(cells, made.plan('gvisor'), 'runtime_missing', /gone!.*doctor --fix/s);
  await assert.doesNotReject(async () => (await cells.open(made.plan('runc'))).destroy(), 'runc is there');
});

/** Replaces cell-init while `then` runs. */
async function withInit(replace: (path: string) => Promise<void>, then: () => Promise<void>): Promise<void> {
  const path = join(made.stateDir, 'init', 'cell-init');
  await rename(path, `${path}.aside`);
  try {
    await replace(path);
    await then();
  } finally {
    await rm(path, { force: true });
    await rename(`${path}.aside`, path);
  }
}

const otherMachine = process.arch === 'x64' ? 'arm64' : 'x64';
const inits: Record<string, { replace: (path: string) => Promise<void>; said: RegExp }> = {
  'that is missing': { replace: async () => {}, said: /There is no cell-init at .*image build cell-init/ },
  'of another architecture': {
    replace: (path) => copyFile(join(bed.initFolder, `cell-init-${otherMachine}`), path),
    said: /exec format error/i,
  },
  'that is not a program': {
    replace: (path) => writeFile(path, 'not a program\n', { mode: 0o555 }),
    said: /exec format error/i,
  },
};
for (const runtime of ['runc', 'gvisor'] as const)
  for (const [what, { replace, said }] of Object.entries(inits))
    test(`on ${runtime} an init ${what} is named, and no cell is left`, () =>
      withInit(replace, () => refusesToOpen(made.cells, made.plan(runtime), 'cell_failed', said)));

test('an image that is removed after its inspection is reported missing, and found again when it is back', async () => {
  const ref = `hotcell-test/${bed.installation.id}-leaves:1`;
  const folder = await bed.folder('image-leaves');
  await writeFile(join(folder, 'Dockerfile'), `FROM ${bed.images.minimal.ref}\nLABEL leaves=1\n`);
  const archive = join(folder, 'image.tar');
  const label = `hotcell.installation=${bed.installation.id}`;
  await must(['docker', 'build', '--quiet', '--network', 'none', '--label', label, '--tag', ref, folder]);
  await must(['docker', 'save', '--output', archive, ref]);
  const { Id: digest } = await engine.image(ref);
  const plan = () => made.plan('runc', { image: { ref, digest } });
  const job = prepareJob({ blocks: [{ argv: ['/bin/minimal', 'echo', 'here'] }], files: [] }, languages);
  try {
    assert.deepEqual(ends(await runIn(made.cells, plan(), job)), [0]);
    await must(['docker', 'image', 'rm', '--force', ref]);
    await refusesToOpen(made.cells, plan(), 'image_missing', /leaves:1.*Build or load it again/s);
    await must(['docker', 'load', '--quiet', '--input', archive]);
    assert.deepEqual(ends(await runIn(made.cells, plan(), job)), [0]);
  } finally {
    await must(['docker', 'image', 'rm', '--force', ref]);
  }
});
