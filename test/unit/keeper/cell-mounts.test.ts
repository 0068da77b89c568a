import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { unmountAll } from '@hotcell/keeper/cell-mounts.ts';

function folderOf(t: { after: (then: () => void) => void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-mounts-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('a cell’s folder in which something still shows an input’s files is not free to be removed', async (t) => {
  const folder = folderOf(t);
  mkdirSync(join(folder, 'root'));
  mkdirSync(join(folder, 'input-0'));
  // As it looks when an unmount failed: a recursive removal would reach the tenant’s cache.
  writeFileSync(join(folder, 'input-0', 'data.csv'), 'a,b\n');
  assert.equal(await unmountAll(folder, 2), false);
  assert.ok(existsSync(join(folder, 'input-0', 'data.csv')));
});

test('a cell’s folder without mounts is free, also when the cell was never fully made', async (t) => {
  const folder = folderOf(t);
  mkdirSync(join(folder, 'input-0'));
  assert.equal(await unmountAll(folder, 3), true);
  assert.ok(!existsSync(join(folder, 'input-0')));
});
