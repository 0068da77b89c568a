import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { mountFiles, mountFolders } from '@hotcell/contract/cell-shape.ts';
import { makeMountPoints, treeOf } from '@hotcell/keeper/root-tree.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'root-'));
  // Folders above those that cells mount on.
  for (const path of ['etc', 'sys', 'usr']) mkdirSync(join(root, path));
});
afterEach(() => rmSync(root, { recursive: true }));

test('everything that a cell mounts on is there afterwards, and a second time changes nothing', async () => {
  assert.equal(makeMountPoints(root), undefined);
  for (const path of mountFolders) assert.ok(statSync(join(root, path)).isDirectory(), path);
  for (const path of mountFiles) assert.ok(statSync(join(root, path)).isFile(), path);
  const before = await treeOf(root);
  assert.equal(makeMountPoints(root), undefined);
  assert.deepEqual(await treeOf(root), before);
});

test('an image whose link would lead a mount elsewhere is refused', () => {
  symlinkSync('/etc', join(root, 'work'));
  assert.match(makeMountPoints(root) ?? '', /\/work is a link to "\/etc"/);
});

test('an image that has a file where a cell mounts a folder, or the other way around, is refused', () => {
  writeFileSync(join(root, 'outputs'), '');
  assert.match(makeMountPoints(root) ?? '', /\/outputs is not a folder/);
  rmSync(join(root, 'outputs'));
  mkdirSync(join(root, 'etc/hosts'));
  assert.match(makeMountPoints(root) ?? '', /\/etc\/hosts is a folder/);
});

test('the digest of a tree is another one as soon as anything in it is', async () => {
  mkdirSync(join(root, 'a'));
  writeFileSync(join(root, 'a/one'), '1');
  writeFileSync(join(root, 'a/two'), '2');
  symlinkSync('one', join(root, 'a/link'));
  const seen = new Set<string>();
  const isNew = async (what: string) => {
    const { digest } = await treeOf(root);
    assert.ok(!seen.has(digest), what);
    seen.add(digest);
  };
  await isNew('at first');
  const changes: Record<string, () => void> = {
    'a content': () => writeFileSync(join(root, 'a/one'), '3'),
    'a mode': () => chmodSync(join(root, 'a/one'), 0o755),
    'the mode of a folder': () => chmodSync(join(root, 'a'), 0o700),
    'the target of a link': () => {
      rmSync(join(root, 'a/link'));
      symlinkSync('two', join(root, 'a/link'));
    },
    'a file more': () => writeFileSync(join(root, 'a/three'), ''),
    'a folder more': () => mkdirSync(join(root, 'b')),
    'a file that is gone': () => rmSync(join(root, 'a/two')),
  };
  for (const [what, change] of Object.entries(changes)) {
    change();
    await isNew(what);
  }
  // The three folders of before, a and b, and one, three and the link in a.
  assert.equal((await treeOf(root)).entries, 8);
});

test('the same files have the same digest, in whatever order they were made', async () => {
  for (const name of ['b', 'a', 'c']) writeFileSync(join(root, name), name);
  const one = await treeOf(root);
  for (const name of ['a', 'b', 'c']) rmSync(join(root, name));
  for (const name of ['c', 'a', 'b']) writeFileSync(join(root, name), name);
  assert.deepEqual(await treeOf(root), one);
});
