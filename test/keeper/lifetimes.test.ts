import assert from 'node:assert/strict';
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { languages } from '@hotcell/contract/languages.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { ends, follow, openKeptCells } from '../support/cells.ts';
import { until } from '../support/until.ts';
import { spawnDyingWorker } from '../support/dying-worker.ts';

let bed: Bed;
let made: Awaited<ReturnType<typeof openKeptCells>>;
before(async () => {
  bed = await openBed();
  made = await openKeptCells(bed, 'lifetimes');
});
after(async () => {
  await made?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

const python = (code: string) => prepareJob({ blocks: [{ language: 'python', code }], files: [] }, languages);
const folders = () => readdirSync(join(made.keptBy.folder, 'cells'));

test('a cell outlives its keeper, and the next keeper knows it again', async () => {
  const cell = await made.cells.open(made.plan('runc'));
  await made.keptBy.kill();
  const told = await follow(cell, python('open("/outputs/a", "w").write("kept"); print("hello")'));
  assert.deepEqual([ends(told), told.logs], [[0], ['hello\n']]);
  assert.equal(told.outputs.get('a')?.toString(), 'kept');
  await made.keptBy.start();
  assert.deepEqual(
    (await made.keptBy.door.ask({ ask: 'list' })).map((one) => one.cell),
    [cell.id],
  );
  await cell.destroy();
  assert.deepEqual(folders(), []);
});

test('a keeper kills a busy cell of the keeper before it', async () => {
  const cell = await made.cells.open(made.plan('runc'));
  const running = follow(cell, python('print("here", flush=True)\nwhile True: pass'));
  running.catch(() => undefined);
  await made.keptBy.kill();
  await made.keptBy.start();
  await made.keptBy.door.ask({ ask: 'kill', cell: cell.id });
  // Only the keeper that started it can tell its exit code.
  await assert.rejects(running, { code: 'stream_broken' });
  await cell.destroy();
  assert.deepEqual(folders(), []);
});

test('a cell whose note is lost is ended, and the keeper starts all the same', async () => {
  const cell = await made.cells.open(made.plan('runc'));
  await made.keptBy.kill();
  writeFileSync(join(made.keptBy.folder, 'cells', cell.id, 'note.json'), '');
  await made.keptBy.start();
  await until('nothing of the cell is left', async () => folders().length === 0);
  await until('its ids are free', async () => !made.keptBy.isLeased(cell.id));
  await cell.destroy();
});

test('a keeper that starts ends what runs in its cgroups without a folder of its own', async () => {
  const place = ['/sys/fs/cgroup/pids', '/sys/fs/cgroup'].map((top) => join(top, made.keptBy.cgroup()));
  const parent = place.find((path) => existsSync(path));
  assert.ok(parent);
  const stray = join(parent, 'stray');
  mkdirSync(stray);
  const child = spawn('sleep', ['1000']);
  const gone = once(child, 'exit');
  writeFileSync(join(stray, 'cgroup.procs'), String(child.pid));
  await made.keptBy.kill();
  await made.keptBy.start();
  assert.deepEqual(await gone, [null, 'SIGKILL']);
  await until('the cgroup is gone', async () => !existsSync(stray));
});

test('gVisor ends its sandbox with the keeper: the attempt fails, and the next keeper clears up', async () => {
  const cell = await made.cells.open(made.plan('gvisor'));
  await made.keptBy.kill();
  await assert.rejects(follow(cell, python('print("hello")')), { code: 'engine_unavailable' });
  await made.keptBy.start();
  await cell.destroy();
  assert.deepEqual(folders(), []);
});

for (const runtime of ['runc', 'gvisor'] as const)
  test(`on ${runtime} a killed worker’s cell ends by itself, and another worker removes it`, async () => {
    const { child, cell } = await spawnDyingWorker(made, made.plan(runtime));
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    await until('the cell ends with its worker', async () => {
      const { hasEnded } = await made.keptBy.door.ask({ ask: 'end', cell: cell.id, withinMs: 1000 });
      return hasEnded;
    });
    assert.deepEqual(folders(), [cell.id]);
    await made.cells.reap(() => false);
    assert.deepEqual(folders(), []);
  });
