import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { CacheAccount, type Tree } from '@hotcell/executor-worker/inputs/cache-account.ts';
import { fileUse, foldersOf, treeUse } from '@hotcell/executor-worker/inputs/disk-use.ts';
import { Places } from '@hotcell/executor-worker/inputs/places.ts';
import { takeOver } from '@hotcell/executor-worker/inputs/scan-cache.ts';
import { GroupSync } from '@hotcell/executor-worker/inputs/sync.ts';
import { buildTree } from '@hotcell/executor-worker/inputs/tree.ts';
import { damagedIn } from '@hotcell/executor-worker/inputs/verify-tree.ts';
import { manifestOf, type SnapshotEntry } from '@hotcell/contract/snapshot.ts';

let root: string;
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'inputs-'));
});
after(async () => {
  execFileSync('chmod', ['-R', 'u+w', root]);
  await rm(root, { recursive: true });
});

const never = new AbortController().signal;
const texts: Readonly<Record<string, string>> = { 'a.csv': 'one', 'deep/er/b.csv': 'two', 'deep/c.csv': 'one' };
const entries: SnapshotEntry[] = Object.entries(texts).map(([path, text]) => ({
  path,
  size: text.length,
  sha256: sha256(text),
}));
const snapshot = manifestOf(entries).id;
const size = { files: 3, bytes: 9, folders: foldersOf(entries) };
/** What the contents take, and what the tree of links to them takes besides. */
const contentUse = 2 * fileUse(3);

/** A cache's folder with the contents and one tree of them. */
async function cacheWith(name: string): Promise<{ places: Places; account: CacheAccount; tree: Tree }> {
  const places = new Places(join(root, name));
  await takeOver(places);
  for (const entry of entries)
    writeFileSync(places.content('t', entry.sha256), texts[entry.path] ?? '', { mode: 0o444, flag: 'w' });
  await buildTree(places.tree('t', snapshot), entries, (entry) => places.content('t', entry.sha256), never);
  writeFileSync(places.manifest('t', snapshot), manifestOf(entries).text);
  writeFileSync(places.treeSize('t', snapshot), JSON.stringify(size));
  const { trees, bytes } = await takeOver(places);
  const [found] = trees;
  assert.ok(found);
  const tree: Tree = { ...found, verifiedAt: 0, held: 0 };
  const account = new CacheAccount(places, bytes, bytes);
  account.trees.set(`t/${snapshot}`, tree);
  return { places, account, tree };
}
const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8);

test('a tree has the files under their paths, read-only, all with the same time', async () => {
  const { places } = await cacheWith('built');
  const at = places.tree('t', snapshot);
  for (const [path, text] of Object.entries(texts)) assert.equal(readFileSync(join(at, path), 'utf8'), text);
  for (const folder of ['', 'deep', 'deep/er']) {
    assert.equal(modeOf(join(at, folder)), '555', folder);
    assert.equal(lstatSync(join(at, folder)).mtime.getFullYear(), 1980, folder);
  }
  assert.equal(lstatSync(join(at, 'a.csv')).ino, lstatSync(join(at, 'deep/c.csv')).ino);
});

test('a tenant’s part of the cache is closed to other users, and has a folder for every digest', async () => {
  const { places } = await cacheWith('closed');
  for (const folder of ['trees', 'files', 'files/00', 'files/ff'])
    assert.equal(modeOf(join(places.tenant('t'), folder)), '700', folder);
  assert.equal(readdirSync(join(places.tenant('t'), 'files')).length, 256);
  assert.throws(() => places.tenant('../t'), { code: 'invalid' });
});

test('what a run still sees is hidden from others and removed later; the rest goes at once, with its contents', async () => {
  const held = await cacheWith('held');
  held.tree.held = 1;
  await held.account.remove(held.tree);
  assert.deepEqual(readdirSync(join(held.places.tenant('t'), 'trees')), []);
  const [left = ''] = readdirSync(held.places.leaving);
  assert.equal(readFileSync(join(held.places.leaving, left, 'a.csv'), 'utf8'), 'one');
  assert.equal(held.account.bytes, contentUse + treeUse(size));

  const free = await cacheWith('free');
  await free.account.remove(free.tree);
  assert.deepEqual(readdirSync(free.places.leaving), []);
  assert.equal(free.account.bytes, 0);
  assert.equal(free.account.trees.size, 0);
});

test('a start takes whole trees over, and removes what is unfinished or has no manifest', async () => {
  const { places } = await cacheWith('again');
  writeFileSync(join(places.unfinished, 'x'), '');
  const other = sha256('other');
  await buildTree(places.tree('t', other), [], () => '', never);
  const { trees, bytes } = await takeOver(places);
  assert.deepEqual(
    trees.map(({ tenant, snapshot: id, files, bytes: total, folders }) => [tenant, id, files, total, folders]),
    [['t', snapshot, 3, 9, 3]],
  );
  assert.equal(bytes, contentUse + treeUse(size));
  assert.deepEqual(readdirSync(places.unfinished), []);
  assert.ok(!readdirSync(join(places.tenant('t'), 'trees')).includes(hexOf(other)));
});

test('bytes that changed on the disk, or are gone, are found by their digest, each once', async () => {
  const { places } = await cacheWith('damaged');
  const at = places.tree('t', snapshot);
  assert.deepEqual(await damagedIn(at, entries, undefined), []);
  execFileSync('chmod', ['u+w', places.content('t', sha256('one'))]);
  writeFileSync(places.content('t', sha256('one')), 'eno');
  assert.deepEqual(await damagedIn(at, entries, undefined), [sha256('one')]);
  const missing = [{ path: 'gone', size: 1, sha256: sha256('gone') }];
  assert.deepEqual(await damagedIn(at, missing, undefined), [sha256('gone')]);
});

test('files are synced few or many, at once and again', async () => {
  const paths = Array.from({ length: 20 }, (_, i) => join(root, `synced-${i}`));
  for (const path of paths) writeFileSync(path, 'x');
  const disk = new GroupSync(root);
  await disk.reach([]);
  await Promise.all([disk.reach(paths), disk.reach(paths.slice(0, 2))]);
  await disk.reach(paths.slice(0, 2));
  await assert.rejects(disk.reach([join(root, 'missing')]), { code: 'ENOENT' });
  await disk.reach(paths.slice(0, 1));
});
