import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileUse, foldersOf, treeUse } from '@hotcell/executor-worker/inputs/disk-use.ts';
import fc from 'fast-check';

test('a small file takes a block and an inode, an empty one an inode', () => {
  assert.deepEqual([0, 1, 4096, 4097].map(fileUse), [512, 4608, 4608, 8704]);
});

test('a tree takes its folders and links, although its contents are counted elsewhere', () => {
  assert.equal(treeUse({ files: 2, folders: 3 }), 3 * 4608 + 2 * 256);
});

test('the folders of any snapshot are counted from its sorted paths', () => {
  assert.equal(foldersOf([]), 1);
  const part = fc.constantFrom('a', 'b', 'ab', 'a-', 'B', 'é');
  const paths = fc.array(fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/')));
  fc.assert(
    fc.property(paths, (all) => {
      const sorted = [...new Set(all)].toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      const folders = new Set(
        sorted.flatMap((path) => path.split('/').map((_, depth, parts) => parts.slice(0, depth).join('/'))),
      );
      folders.add('');
      assert.equal(foldersOf(sorted.map((path) => ({ path }))), folders.size);
    }),
  );
});
