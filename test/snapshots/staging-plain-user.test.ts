import assert from 'node:assert/strict';
import { chmodSync, lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { InputCache } from '@hotcell/executor-worker/inputs/cache.ts';
import { fileUse, treeUse } from '@hotcell/executor-worker/inputs/disk-use.ts';
import { buildTree } from '@hotcell/executor-worker/inputs/tree.ts';
import type { Contents } from '@hotcell/record/contents.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { filesUnder } from '../support/files-under.ts';
import { contentsAs, freezeTree, openCache, staged } from '../support/freezing.ts';
import { type House, openHouse } from '../support/house.ts';

/** The worker beside a keeper is a user like any other: here this process gives up root while it stages. */
const plain = 7412;
const big = 2 ** 20;
let bed: Bed;
let house: House;
let contents: Contents;
let folder: string;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  contents = await contentsAs(house, 'worker');
  // Every user comes through /tmp, but not through every home.
  folder = await mkdtemp('/tmp/hotcell-plain-');
  await chown(folder, plain, plain);
});
after(async () => {
  process.seteuid?.(0);
  await contents?.[Symbol.asyncDispose]();
  await house?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Root's right over all files goes with its effective id, for all threads of the process. */
async function asPlainUser<T>(work: () => Promise<T>): Promise<T> {
  process.seteuid?.(plain);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

const opened = (name: string, maxBytes = big) => openCache(bed, contents, maxBytes, join(folder, name));
const everything = (name: string) => readdirSync(join(folder, name), { recursive: true }).map(String);

const roomForOne = 2 * fileUse(3) + treeUse({ files: 2, folders: 3 });
test('a user without rights stages inputs, clears them up and makes way for others', async () => {
  const tenant = bed.tenant();
  const files = { 'a/b/c.txt': 'one', 'a/d.txt': 'two' };
  const [first, second] = [
    await freezeTree(house, tenant, files),
    await freezeTree(house, tenant, { 'x/y.txt': 'three' }),
  ];
  await asPlainUser(async () => {
    await using inputs: InputCache = await opened('stages', roomForOne);
    {
      await using there = await staged(house, inputs, tenant, { in: first });
      const [root = '', tree = ''] = there.mounts.map(({ source }) => source);
      assert.deepEqual(filesUnder(tree), files);
      for (const path of [root, tree, join(tree, 'a'), join(tree, 'a/b')])
        assert.deepEqual([lstatSync(path).mode & 0o777, lstatSync(path).uid], [0o555, plain], path);
      // Only a user who is not root shows that: no file of an input can be replaced by accident.
      assert.throws(() => writeFileSync(join(tree, 'new'), ''), { code: 'EACCES' });
    }
    assert.deepEqual(readdirSync(join(folder, 'stages', 'runs')), []);
    await using filler = await staged(house, inputs, tenant, { in: second });
    assert.deepEqual(filesUnder(filler.mounts[1]?.source ?? ''), { 'x/y.txt': 'three' });
    const trees = everything('stages').filter((path) => /trees\/[0-9a-f]{64}$/.test(path));
    assert.deepEqual(
      trees.map((path) => `sha256:${path.slice(-64)}`),
      [second.snapshot],
    );
  });
});

test('a damaged input of a user without rights is taken out and fetched again', async () => {
  const tenant = bed.tenant();
  const frozen = await freezeTree(house, tenant, { 'deep/er/file': 'right' });
  await asPlainUser(async () => {
    await using inputs = await opened('damaged');
    await (await staged(house, inputs, tenant, { in: frozen }))[Symbol.asyncDispose]();
    const file = join(inputs.places.tree(tenant, frozen.snapshot), 'deep/er/file');
    chmodSync(file, 0o644);
    writeFileSync(file, 'wrong');
    await using there = await staged(house, inputs, tenant, { in: frozen }, { verifyEachUse: true });
    assert.deepEqual(filesUnder(there.mounts[1]?.source ?? ''), { 'deep/er/file': 'right' });
    assert.deepEqual(readdirSync(join(folder, 'damaged', 'leaving')), []);
  });
});

test('what a process without rights left at any point is cleared up by the next', async () => {
  const tenant = bed.tenant();
  const frozen = await freezeTree(house, tenant, { 'deep/er/file': 'right' });
  await asPlainUser(async () => {
    let stands: string;
    {
      await using inputs = await opened('left');
      await (await staged(house, inputs, tenant, { in: frozen }))[Symbol.asyncDispose]();
      stands = inputs.places.tree(tenant, frozen.snapshot);
      // Trees in every place where one can be left, and one that stands but was not closed again.
      const content = join(stands, 'deep/er/file');
      const entries = [{ path: 'some/where/file', size: 5, sha256: frozen.snapshot }];
      for (const place of ['unfinished', 'leaving', 'runs'])
        await buildTree(join(folder, 'left', place, 'tree'), entries, () => content, new AbortController().signal);
      chmodSync(stands, 0o755);
    }
    await using inputs = await opened('left');
    for (const place of ['unfinished', 'leaving', 'runs'])
      assert.deepEqual(readdirSync(join(folder, 'left', place)), [], place);
    assert.equal(lstatSync(stands).mode & 0o777, 0o555);
    await using there = await staged(house, inputs, tenant, { in: frozen });
    assert.deepEqual(filesUnder(there.mounts[1]?.source ?? ''), { 'deep/er/file': 'right' });
  });
});
