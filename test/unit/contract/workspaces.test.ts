import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { judgeWorkspace, ownFilesOf } from '@hotcell/contract/judge-workspace.ts';
import type { SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import { mostChangesNamed } from '@hotcell/contract/workspace.ts';
import { workspaceChanges } from '@hotcell/contract/workspace-changes.ts';
import { testLimits } from '../../support/limits.ts';
import { policyOf } from '../../support/policies.ts';

const entry = (path: string, text = path, size = text.length): SnapshotEntry => ({ path, size, sha256: sha256(text) });
const policy = policyOf({ languages: ['python'], inputs: { count: 1, bytes: '1GiB', files: 1000 } });
const limits = { ...testLimits, scratchBytes: 64 * 1024, scratchInodes: 20, fileBytes: 40_000, memoryBytes: 2 ** 26 };

function placesRefused(
  entries: readonly SnapshotEntry[],
  own: Partial<Parameters<typeof ownFilesOf>[0]> = {},
  changed: Partial<typeof limits> = {},
): string[] {
  const run = ownFilesOf({ blocks: [], files: [], ...own }, policy);
  return judgeWorkspace(entries, run, { ...limits, ...changed }, policy).map(({ path }) => path);
}

describe('a workspace is admitted', () => {
  test('if it fits, with the code', () => {
    assert.deepEqual(placesRefused([]), []);
    assert.deepEqual(placesRefused([entry('a/b/c'), entry('d', '', 30_000)]), []);
  });

  test('and refused, by the limit to raise, if it does not', () => {
    const three = ['a', 'b', 'c'].map((path) => entry(path, path, 20_000));
    const code = [{ language: 'python', code: 'x'.repeat(8_000), file: 'main.py' }];
    assert.deepEqual(placesRefused(three), []);
    assert.deepEqual(placesRefused(three, { blocks: code }), ['limits.scratchBytes']);
    assert.deepEqual(placesRefused(three, {}, { memoryBytes: 60_000 }), ['limits.memoryBytes']);
    assert.deepEqual(placesRefused([entry('a', 'a', 50_000)]), ['limits.fileBytes']);
    const deep = Array.from({ length: 10 }, (_, i) => entry(`${i}/x`));
    assert.deepEqual(placesRefused(deep), ['limits.scratchInodes'], 'a folder takes an inode, too');
    assert.deepEqual(placesRefused(deep.slice(1)), []);
  });

  test('and refused if its end could not be kept', () => {
    assert.deepEqual(placesRefused([entry('x'.repeat(1025), '')]), ['workspace']);
    const wide = { scratchInodes: 200 };
    assert.deepEqual(placesRefused([entry(`${'d/'.repeat(64)}x`)], {}, wide), ['workspace']);
    assert.deepEqual(placesRefused([entry(`${'d/'.repeat(63)}x`)], {}, wide), []);
  });

  test('and refused if a file of the run would take the place of one of its own', () => {
    const blocks = [{ language: 'python', code: '', file: 'src/main.py' }];
    assert.deepEqual(placesRefused([entry('src/main.py')], { blocks }), ['blocks[0].file']);
    assert.deepEqual(placesRefused([entry('src')], { blocks }), ['blocks[0].file'], 'a file where a folder is needed');
    assert.deepEqual(placesRefused([entry('src/main.py/x')], { blocks }), ['blocks[0].file']);
    assert.deepEqual(placesRefused([entry('src/other.py')], { blocks }), []);
    const files = [
      { path: 'free', text: '' },
      { path: 'taken', text: '' },
    ];
    assert.deepEqual(placesRefused([entry('taken')], { files }), ['files[1].path']);
  });
});

describe('the difference of a workspace', () => {
  test('counts what was added, changed and removed, and names it', () => {
    const changes = workspaceChanges(
      [entry('same'), entry('other', '1'), entry('gone')],
      [...[entry('new'), entry('other', '2'), entry('same')]],
    );
    assert.deepEqual(changes, {
      ...{ added: 1, changed: 1, removed: 1 },
      paths: [
        { path: 'other', change: 'changed' },
        { path: 'new', change: 'added' },
        { path: 'gone', change: 'removed' },
      ],
    });
  });

  test('names so many and no more', () => {
    const many = Array.from({ length: mostChangesNamed + 50 }, (_, i) => entry(`f${i}`));
    const { added, removed, paths } = workspaceChanges([entry('gone')], many);
    assert.deepEqual([added, removed, paths.length], [mostChangesNamed + 50, 1, mostChangesNamed]);
  });
});
