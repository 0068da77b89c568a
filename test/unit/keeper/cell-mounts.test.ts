import assert from 'node:assert/strict';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePlaces, planMounts } from '@hotcell/keeper/cell-mounts.ts';

function folderOf(t: { after: (then: () => void) => void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-mounts-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The kernel gives a new descriptor the lowest number that is free. */
function lowestFree(): number {
  const fd = openSync('/dev/null', 'r');
  closeSync(fd);
  return fd;
}

test('each input is an open folder, mounted at a place of the cell’s own before the runtime starts', (t) => {
  const [folder, staging] = [folderOf(t), folderOf(t)];
  mkdirSync(join(staging, 'run/a'), { recursive: true });
  mkdirSync(join(folder, 'devices'));
  writeFileSync(join(folder, 'devices/null'), '');
  const about = { root: '/roots/x', folder, staging, devices: join(folder, 'devices') };
  const plan = planMounts(about, [['run'], ['run', 'a']]);
  assert.deepEqual(plan.inputs, [join(folder, 'input-0'), join(folder, 'input-1')]);
  assert.deepEqual(plan.words, [
    'cell-mounts',
    `lowerdir=${folder}/inputs:/roots/x`,
    plan.root,
    ...['3', '/dev/null', '4', plan.inputs[0], '5', plan.inputs[1], '--'],
  ]);
  assert.deepEqual(
    plan.open.slice(1).map((fd) => fstatSync(fd).ino),
    [join(staging, 'run'), join(staging, 'run/a')].map((path) => statSync(path).ino),
  );
  plan.open.forEach(closeSync);
});

test('an input that is a link is refused, and no folder stays open', (t) => {
  const [folder, staging] = [folderOf(t), folderOf(t)];
  mkdirSync(join(staging, 'run'));
  symlinkSync('/etc', join(staging, 'link'));
  const before = lowestFree();
  assert.throws(() => planMounts({ root: '/roots/x', folder, staging, devices: undefined }, [['run'], ['link']]), {
    code: 'cell_failed',
  });
  assert.equal(lowestFree(), before);
});

test('a cell’s folder in which something still shows an input’s files is not free to be removed', async (t) => {
  const folder = folderOf(t);
  mkdirSync(join(folder, 'root'));
  mkdirSync(join(folder, 'input-0'));
  // As it looks when an unmount failed: a recursive removal would reach the tenant’s cache.
  writeFileSync(join(folder, 'input-0', 'data.csv'), 'a,b\n');
  assert.equal(await freePlaces(folder, 2), false);
  assert.ok(existsSync(join(folder, 'input-0', 'data.csv')));
});

test('a cell’s folder without mounts is free, also when the cell was never fully made', async (t) => {
  const folder = folderOf(t);
  mkdirSync(join(folder, 'input-0'));
  assert.equal(await freePlaces(folder, 3), true);
  assert.ok(!existsSync(join(folder, 'input-0')));
});
