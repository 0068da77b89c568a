import assert from 'node:assert/strict';
import { chmodSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { nameProblems } from '@hotcell/contract/snapshot-names.ts';
import { scrub } from '@hotcell/executor-worker/inputs/scrub.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import fc from 'fast-check';
import { fileUse, treeUse } from '@hotcell/executor-worker/inputs/disk-use.ts';
import { openBed } from '../support/bed.ts';
import { failsAs } from '../support/fails-as.ts';
import { filesUnder } from '../support/files-under.ts';
import { contentsAs, freezeTree, openCache, staged } from '../support/freezing.ts';
import { logLevel, openHouse } from '../support/house.ts';
import { openHttpProxy } from '../support/http-proxy.ts';
import { until } from '../support/until.ts';

const bed = await openBed();
const house = await openHouse(bed);
const proxy = await openHttpProxy(bed.installation.store.endpoint);
after(async () => {
  await house[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

test('any tree with legal names is staged bit for bit under the same id; any other is refused, naming each bad name', async () => {
  await using contents = await contentsAs(house, 'worker');
  await using inputs = await openCache(bed, contents);
  const part = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
    fc.constantFrom('data', 'Data', 'a b', '-rf', '..', '.hidden', 'caf\u00e9', 'cafe\u0301', '日本', '*?"<>|\\'),
  );
  const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
  const tree = fc.dictionary(path, fc.uint8Array({ maxLength: 2000 }), {
    minKeys: 1,
    maxKeys: 8,
    noNullPrototype: true,
  });
  await fc.assert(
    fc.asyncProperty(tree, async (files) => {
      const tenant = bed.tenant();
      const wanted = Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes)]));
      const problems = nameProblems(Object.keys(wanted));
      if (problems.length > 0) {
        await assert.rejects(freezeTree(house, tenant, wanted), (error: unknown) => {
          assert.ok(error instanceof HotcellError);
          assert.deepEqual(
            error.issues.map((issue) => issue.path),
            problems.map((problem) => problem.path),
          );
          return true;
        });
        return;
      }
      const frozen = await freezeTree(house, tenant, wanted);
      const again = await freezeTree(house, bed.tenant(), Object.fromEntries(Object.entries(wanted).toReversed()));
      assert.equal(again.snapshot, frozen.snapshot);
      await using there = await staged(house, inputs, tenant, { in: frozen });
      const expected = Object.fromEntries(
        Object.entries(wanted).map(([name, bytes]) => [name, bytes.toString('latin1')]),
      );
      assert.deepEqual(filesUnder(there.mounts[1]?.source ?? ''), expected);
    }),
    { numRuns: 40 },
  );
});

test('beside the inputs there are only the parameters, read-only and without timestamps', async () => {
  await using contents = await contentsAs(house, 'worker');
  await using inputs = await openCache(bed, contents);
  const tenant = bed.tenant();
  const frozen = await freezeTree(house, tenant, { 'a/b/c.txt': 'x', 'd.txt': 'y' });
  await using there = await staged(house, inputs, tenant, { one: frozen, two: frozen }, { params: { b: 2, a: 'x' } });
  assert.deepEqual(
    there.mounts.map((mount) => mount.target),
    ['/inputs', '/inputs/one', '/inputs/two'],
  );
  assert.deepEqual(
    there.inputs,
    ['one', 'two'].map((name) => ({ name, files: 2, bytes: 2 })),
  );
  const [root = '', tree = ''] = there.mounts.map((mount) => mount.source);
  assert.deepEqual(readdirSync(root).toSorted(), ['one', 'params.json', 'two']);
  assert.equal(readFileSync(join(root, 'params.json'), 'utf8'), '{"a":"x","b":2}');
  for (const path of [root, join(root, 'params.json'), tree, join(tree, 'a/b'), join(tree, 'a/b/c.txt')]) {
    const stat = lstatSync(path);
    assert.equal(stat.mode & 0o7777, stat.isDirectory() ? 0o555 : 0o444, path);
    assert.equal(stat.uid, process.getuid?.(), path);
    assert.equal(stat.mtime.toISOString(), '1980-01-01T00:00:00.000Z', path);
  }
});

test('cached contents and manifests are not fetched again', async () => {
  await using contents = await contentsAs(house, 'worker', { endpoint: proxy.url });
  const folder = join(await bed.folder('cache'), 'cache');
  const tenant = bed.tenant();
  const frozen = await freezeTree(house, tenant, { a: '1', b: '2', c: '1' });
  const requests = () => proxy.seen.filter((seen) => seen.path.includes(tenant)).length;
  {
    await using inputs = await openCache(bed, contents, 2 ** 20, folder);
    await (await staged(house, inputs, tenant, { in: frozen }))[Symbol.asyncDispose]();
    assert.equal(requests(), 2, 'equal files are one content');
    await (await staged(house, inputs, tenant, { in: frozen }))[Symbol.asyncDispose]();
  }
  await using inputs = await openCache(bed, contents, 2 ** 20, folder);
  await using there = await staged(house, inputs, tenant, { in: frozen });
  assert.equal(requests(), 2, 'not after the worker was started again either');
  assert.deepEqual(filesUnder(there.mounts[1]?.source ?? ''), { a: '1', b: '2', c: '1' });
});

test('concurrent runs fetch shared inputs once', async () => {
  await using contents = await contentsAs(house, 'worker', { endpoint: proxy.url });
  await using inputs = await openCache(bed, contents);
  const tenant = bed.tenant();
  const first = await freezeTree(house, tenant, { a: 'shared', b: 'of the first' });
  const second = await freezeTree(house, tenant, { z: 'shared', y: 'of the second' });
  const all = await Promise.all(
    [first, second, first, second].map((frozen) => staged(house, inputs, tenant, { in: frozen })),
  );
  assert.equal(proxy.seen.filter((seen) => seen.path.includes(tenant)).length, 3);
  for (const there of all) await there[Symbol.asyncDispose]();
});

test('one tenant’s cached contents are fetched again for another', async () => {
  await using contents = await contentsAs(house, 'worker', { endpoint: proxy.url });
  await using inputs = await openCache(bed, contents);
  const [one, other] = [bed.tenant(), bed.tenant()];
  for (const tenant of [one, other]) {
    const frozen = await freezeTree(house, tenant, { 'same.bin': 'the same bytes' });
    await (await staged(house, inputs, tenant, { in: frozen }))[Symbol.asyncDispose]();
  }
  const asked = proxy.seen.filter((seen) => seen.path.includes(other));
  assert.equal(asked.length, 1);
  assert.equal(lstatSync(inputs.places.content(other, sha256('the same bytes'))).nlink, 2, 'it shares no inode');
});

test('two runs that share most of many files fetch each file once', async () => {
  await using contents = await contentsAs(house, 'worker', { endpoint: proxy.url });
  await using inputs = await openCache(bed, contents);
  const tenant = bed.tenant();
  const some = (from: number) =>
    Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${from + i}`, `content ${from + i}`]));
  const trees = [some(0), some(50)];
  const [one, two] = await Promise.all(trees.map((tree) => freezeTree(house, tenant, tree)));
  assert.ok(one && two);
  const all = await Promise.all([one, two].map((frozen) => staged(house, inputs, tenant, { in: frozen })));
  for (const [i, there] of all.entries()) {
    assert.deepEqual(filesUnder(there.mounts[1]?.source ?? ''), trees[i]);
    await there[Symbol.asyncDispose]();
  }
  const asked = proxy.seen.filter((seen) => seen.path.includes(tenant)).map((seen) => seen.path);
  assert.equal(asked.length, 350);
  assert.equal(new Set(asked).size, 350);
});

test('a bit that flips on the disk is found before use if the policy says so, and the content is fetched again', async () => {
  await using contents = await contentsAs(house, 'worker');
  await using inputs = await openCache(bed, contents);
  const tenant = bed.tenant();
  const frozen = await freezeTree(house, tenant, { 'a/x': 'as frozen', y: 'sound' });
  await (await staged(house, inputs, tenant, { in: frozen }))[Symbol.asyncDispose]();
  const path = inputs.places.content(tenant, sha256('as frozen'));
  chmodSync(path, 0o644);
  writeFileSync(path, 'as Frozen');
  chmodSync(path, 0o444);
  await using there = await staged(house, inputs, tenant, { in: frozen }, { verifyEachUse: true });
  assert.deepEqual(filesUnder(there.mounts[1]?.source ?? ''), { 'a/x': 'as frozen', y: 'sound' });
});

test('a background check finds a flipped bit and removes every tree that holds it', async () => {
  await using contents = await contentsAs(house, 'worker');
  await using inputs = await openCache(bed, contents);
  const tenant = bed.tenant();
  const one = await freezeTree(house, tenant, { a: 'as frozen', b: '1' });
  const two = await freezeTree(house, tenant, { c: 'as frozen', d: '2' });
  for (const frozen of [one, two]) await (await staged(house, inputs, tenant, { in: frozen }))[Symbol.asyncDispose]();
  const path = inputs.places.content(tenant, sha256('as frozen'));
  chmodSync(path, 0o644);
  writeFileSync(path, 'as Frozen');
  const enough = new AbortController();
  const scrubbing = scrub(inputs, openLog('scrub', logLevel), enough.signal, 1);
  const trees = join(inputs.places.tenants, tenant, 'trees');
  await until('the damaged trees are gone', async () => readdirSync(trees).length === 0);
  enough.abort();
  await scrubbing;
  await using there = await staged(house, inputs, tenant, { in: two });
  assert.deepEqual(filesUnder(there.mounts[1]?.source ?? ''), { c: 'as frozen', d: '2' });
});

test('eviction takes the least recently used contents, and never those in use', async () => {
  await using contents = await contentsAs(house, 'worker');
  const tenant = bed.tenant();
  const content = (letter: string) => Buffer.alloc(1000, letter);
  const [a, b, c, d] = await Promise.all(
    ['a', 'b', 'c', 'd'].map((letter) => freezeTree(house, tenant, { [letter]: content(letter) })),
  );
  assert.ok(a && b && c && d);
  const each = fileUse(1000) + treeUse({ files: 1, folders: 1 });
  await using inputs = await openCache(bed, contents, 3 * each);
  const inUse = await staged(house, inputs, tenant, { in: a });
  for (const frozen of [b, c]) await (await staged(house, inputs, tenant, { in: frozen }))[Symbol.asyncDispose]();
  // Verification does not count as use.
  for (let i = 0; i < 3; i++) assert.equal(await inputs.verifyOldest(), true);
  await (await staged(house, inputs, tenant, { in: d }))[Symbol.asyncDispose]();
  const trees = readdirSync(join(inputs.places.tenants, tenant, 'trees')).filter((name) => !name.includes('.'));
  assert.deepEqual(trees.toSorted(), [a, c, d].map(({ snapshot }) => snapshot.slice('sha256:'.length)).toSorted());
  assert.equal(inputs.bytes, 3 * each);
  assert.deepEqual(filesUnder(inUse.mounts[1]?.source ?? ''), { a: content('a').toString() });
  await inUse[Symbol.asyncDispose]();
  const tooBig = await freezeTree(house, tenant, { e: Buffer.alloc(3 * each, 'e') });
  await assert.rejects(staged(house, inputs, tenant, { in: tooBig }), failsAs('internal', /HOTCELL_CACHE_BYTES/));
});

test('a run whose inputs do not fit beside those of another tenant gets them when that run ends', async () => {
  const [long, other] = [bed.tenant(), bed.tenant()];
  const [mine, theirs] = await Promise.all(
    [long, other].map((tenant) => freezeTree(house, tenant, { in: Buffer.alloc(1000, tenant) })),
  );
  assert.ok(mine && theirs);
  await using contents = await contentsAs(house, 'worker');
  await using inputs = await openCache(bed, contents, fileUse(1000) + treeUse({ files: 1, folders: 1 }));
  const inUse = await staged(house, inputs, long, { in: mine });
  const { promise: waiting, resolve: waits } = Promise.withResolvers<void>();
  const staging = staged(house, inputs, other, { in: theirs }, { waits });
  await waiting;
  await inUse[Symbol.asyncDispose]();
  await using there = await staging;
  assert.equal(there.inputs[0]?.bytes, 1000);
});

test('a run that is given up stops its fetches, except those that others wait for', async () => {
  await using faulty = await openHttpProxy(bed.installation.store.endpoint);
  await using contents = await contentsAs(house, 'worker', { endpoint: faulty.url });
  await using inputs = await openCache(bed, contents);
  const tenant = bed.tenant();
  const frozen = await freezeTree(house, tenant, { big: Buffer.alloc(2 ** 20, 1) });
  const asked = Promise.withResolvers<void>();
  faulty.fault = () => {
    asked.resolve();
    return { kind: 'stall_answer' };
  };
  const givingUp = new AbortController();
  const first = staged(house, inputs, tenant, { in: frozen }, { signal: givingUp.signal });
  await asked.promise;
  faulty.fault = () => undefined;
  givingUp.abort(new Error('cancelled'));
  await assert.rejects(first, /cancelled/);
  await using there = await staged(house, inputs, tenant, { in: frozen });
  assert.equal(readFileSync(join(there.mounts[1]?.source ?? '', 'big')).length, 2 ** 20);
});

test('two workers cannot share a cache', async () => {
  await using contents = await contentsAs(house, 'worker');
  const folder = join(await bed.folder('cache'), 'cache');
  await using _inputs = await openCache(bed, contents, 2 ** 20, folder);
  await assert.rejects(openCache(bed, contents, 2 ** 20, folder), failsAs('internal', /Another worker/));
});
