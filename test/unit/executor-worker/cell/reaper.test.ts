import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Reaping, reapFolders, reasonToReap } from '@hotcell/executor-worker/cell/reaper.ts';

const now = new Date('2026-01-01T12:00:00Z');
const known: Reaping = {
  worker: 'me',
  ownCells: new Set(['mine']),
  isAlive: (worker) => worker === 'other',
  now,
};
const cell = (worker: string, more: Record<string, string> = {}) => ({
  state: 'running',
  labels: {
    'hotcell.worker': worker,
    'hotcell.cell': 'x',
    'hotcell.deadline': '2026-01-01T13:00:00Z',
    ...more,
  },
});
const over = { 'hotcell.deadline': '2026-01-01T11:00:00Z' };

describe('a cell is left alone', () => {
  test('when it is one of ours that we know', () => {
    assert.equal(reasonToReap(cell('me', { 'hotcell.cell': 'mine' }), known), undefined);
  });
  test('when its worker lives, whatever its deadline says', () => {
    assert.equal(reasonToReap(cell('other'), known), undefined);
    assert.equal(reasonToReap(cell('other', over), known), undefined);
    assert.equal(reasonToReap({ ...cell('other'), state: 'exited' }, known), undefined);
  });
  test('when it was made to look at an image, until its deadline', () => {
    assert.equal(reasonToReap(cell(''), known), undefined);
  });
});

describe('a cell goes', () => {
  test('when it is of an earlier life of this worker', () => {
    assert.match(reasonToReap(cell('me'), known) ?? '', /no longer knows it/);
  });
  test('when its worker is gone, at once', () => {
    assert.match(reasonToReap(cell('dead'), known) ?? '', /its worker dead is gone/);
    assert.match(reasonToReap({ ...cell('dead'), state: 'exited' }, known) ?? '', /has ended/);
  });
  test('when it is ours and past its deadline', () => {
    assert.match(reasonToReap(cell('me', { 'hotcell.cell': 'mine', ...over }), known) ?? '', /deadline/);
  });
  test('when its deadline is none', () => {
    for (const deadline of ['', 'soon'])
      assert.match(reasonToReap(cell('', { 'hotcell.deadline': deadline }), known) ?? '', /deadline/);
  });
});

test('a folder goes unless its cell is one of ours, or its container is still there', async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'reaper-'));
  for (const id of ['ours', 'contained', 'left']) await mkdir(join(stateDir, 'cells', id), { recursive: true });
  await reapFolders({ stateDir, ownCells: new Set(['ours']) }, new Set(['contained']));
  assert.deepEqual((await readdir(join(stateDir, 'cells'))).toSorted(), ['contained', 'ours']);
  await rm(stateDir, { recursive: true });
});
