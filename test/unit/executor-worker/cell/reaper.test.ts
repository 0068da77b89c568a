import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { removeFolders } from '@hotcell/executor-worker/cell/engine-maker.ts';
import { type Reaping, reasonToReap } from '@hotcell/executor-worker/cell/reaper.ts';

const now = new Date('2026-01-01T12:00:00Z');
const known: Reaping = {
  worker: 'me',
  ownCells: new Set(['mine']),
  isAlive: (worker) => worker === 'other',
  now,
};
const cell = (worker: string, more: Partial<Parameters<typeof reasonToReap>[0]> = {}) => ({
  id: 'x',
  worker,
  deadlineMs: Date.parse('2026-01-01T13:00:00Z'),
  hasEnded: false,
  ...more,
});
const over = { deadlineMs: Date.parse('2026-01-01T11:00:00Z') };

describe('a cell is left alone', () => {
  test('if it is one of this worker’s own, whatever the wall clock says', () => {
    assert.equal(reasonToReap(cell('me', { id: 'mine' }), known), undefined);
    assert.equal(reasonToReap(cell('me', { id: 'mine', ...over }), known), undefined);
  });
  test('if its worker is alive, whatever its deadline says', () => {
    assert.equal(reasonToReap(cell('other'), known), undefined);
    assert.equal(reasonToReap(cell('other', over), known), undefined);
    assert.equal(reasonToReap(cell('other', { hasEnded: true }), known), undefined);
  });
  test('if it was made to inspect an image, until its deadline', () => {
    assert.equal(reasonToReap(cell(''), known), undefined);
  });
});

describe('a cell goes', () => {
  test('if an earlier process of this worker made it', () => {
    assert.match(reasonToReap(cell('me'), known) ?? '', /no longer knows it/);
  });
  test('at once if its worker is gone', () => {
    assert.match(reasonToReap(cell('dead'), known) ?? '', /its worker dead is gone/);
    assert.match(reasonToReap(cell('dead', { hasEnded: true }), known) ?? '', /has ended/);
  });
  test('if it was made to inspect an image, and its deadline is over or can’t be read', () => {
    assert.match(reasonToReap(cell('', over), known) ?? '', /deadline/);
    assert.match(reasonToReap(cell('', { deadlineMs: Number.NaN }), known) ?? '', /deadline/);
  });
});

test('a folder goes unless its cell is one of ours, or its container is still there', async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'reaper-'));
  for (const id of ['ours', 'contained', 'left']) await mkdir(join(stateDir, 'cells', id), { recursive: true });
  await removeFolders(stateDir, (id) => ['ours', 'contained'].includes(id));
  assert.deepEqual((await readdir(join(stateDir, 'cells'))).toSorted(), ['contained', 'ours']);
  await rm(stateDir, { recursive: true });
});
