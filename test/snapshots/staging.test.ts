import assert from 'node:assert/strict';
import { chmodSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { recordKeys } from '@hotcell/contract/layout.ts';
import { manifestOf } from '@hotcell/contract/snapshot.ts';
import { locationsOf } from '@hotcell/contract/snapshot-locations.ts';
import { nameProblems } from '@hotcell/contract/snapshot-names.ts';
import { scrub } from '@hotcell/executor-worker/inputs/scrub.ts';
import { openLog } from '@hotcell/outside/log.ts';
import { putSnapshot } from '@hotcell/outside/snapshot-record.ts';
import { must } from '@hotcell/setup/command.ts';
import fc from 'fast-check';
import { openBed } from '../support/bed.ts';
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

const failsAs = (code: string, about: RegExp) => (error: unknown) => {
  assert.ok(error instanceof HotcellError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, about);
  return true;
};

/** Every file under a folder, by its path; what is no file or folder has no business there. */
function filesUnder(root: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    assert.ok(entry.isFile(), `${entry.name} is no file`);
    const path = join(entry.parentPath, entry.name);
    files[relative(root, path)] = readFileSync(path, 'latin1');
  }
  return files;
}

test('any tree of legal names comes out as it went in, bit for bit, with the same id; any other names every offender', async () => {
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

test('beside the inputs there are the parameters and nothing else, read-only and of no age', async () => {
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

test('what is cached is not asked for again, neither its bytes nor its manifest', async () => {
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

test('runs that need the same at the same time fetch it once', async () => {
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

test('what one tenant has in the cache is fetched again for another', async () => {
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

test('a map of locations that leads to another tenant is refused', async () => {
  await using contents = await contentsAs(house, 'worker');
  await using inputs = await openCache(bed, contents);
  const [victim, thief] = [bed.tenant(), bed.tenant()];
  await freezeTree(house, victim, { secret: 'theirs' });
  const digest = sha256('theirs');
  const location = { bucket: house.store.record, key: recordKeys.cas(victim, digest) };
  const made = await putSnapshot(house.store, thief, [{ path: 'x', size: 6, sha256: digest, location }]);
  await assert.rejects(staged(house, inputs, thief, { in: made }), failsAs('input_damaged', /not where contents of/));
});

test('a manifest or a map that was changed in the store is caught', async () => {
  await using contents = await contentsAs(house, 'worker');
  await using inputs = await openCache(bed, contents);
  const tenant = bed.tenant();
  const { store } = house;
  const frozen = await freezeTree(house, tenant, { a: '1' });
  const other = manifestOf([{ path: 'b', size: 1, sha256: sha256('1') }]);
  await store.put(store.record, recordKeys.manifest(tenant, frozen.snapshot), other.text);
  await assert.rejects(staged(house, inputs, tenant, { in: frozen }), failsAs('input_damaged', /manifest/));
  const second = await freezeTree(house, tenant, { c: '2' });
  const elsewhere = { path: 'c', size: 1, sha256: sha256('2'), location: { bucket: 'x', key: 'y' } };
  await store.put(store.record, recordKeys.locations(tenant, second.locations), locationsOf([elsewhere]).text);
  await assert.rejects(staged(house, inputs, tenant, { in: second }), failsAs('input_damaged', /locations/));
});

test('bytes that were changed in the bucket after the freeze are caught before there is a tree', async () => {
  await using contents = await contentsAs(house, 'worker');
  await using inputs = await openCache(bed, contents);
  const tenant = bed.tenant();
  const frozen = await freezeTree(house, tenant, { good: 'good', 'bad.csv': 'as frozen' });
  const key = recordKeys.cas(tenant, sha256('as frozen'));
  await house.store.put(house.store.record, key, 'as Frozen');
  await assert.rejects(staged(house, inputs, tenant, { in: frozen }), failsAs('input_damaged', /bad\.csv/));
  assert.deepEqual(readdirSync(join(inputs.places.tenants, tenant, 'trees')), []);
  assert.deepEqual(readdirSync(inputs.places.unfinished), []);
});

test('a content that is gone is named', async () => {
  await using contents = await contentsAs(house, 'worker');
  await using inputs = await openCache(bed, contents);
  const tenant = bed.tenant();
  const frozen = await freezeTree(house, tenant, { 'gone.csv': 'here today' });
  const key = recordKeys.cas(tenant, sha256('here today'));
  await house.store.delete(house.store.record, key);
  await assert.rejects(
    staged(house, inputs, tenant, { in: frozen }),
    failsAs('input_missing', /gone\.csv.*is not in the store any more/),
  );
});

const faults = [
  { kind: 'status', status: 503 },
  { kind: 'status', status: 500 },
  { kind: 'cut_answer' },
  { kind: 'stall_answer' },
  { kind: 'bend_answer' },
] as const;
// Few are fetched where we are, many on threads.
const faultsOf = faults.flatMap((fault) =>
  ('status' in fault && fault.status === 500 ? [2] : [2, 80]).map((files) => ({ fault, files })),
);
for (const { fault, files } of faultsOf) {
  const what = 'status' in fault ? `status ${fault.status}` : fault.kind;
  test(`a store that does ${what} now and then among ${files} files only costs time`, async () => {
    await using faulty = await openHttpProxy(bed.installation.store.endpoint);
    await using contents = await contentsAs(house, 'worker', { endpoint: faulty.url, silenceMs: 1_000 });
    await using inputs = await openCache(bed, contents);
    const tenant = bed.tenant();
    const big = Buffer.alloc(3 * 2 ** 20, 7);
    const small = Array.from({ length: files - 1 }, (_, i) => [`small-${i}`, `${i}`.padEnd(500, 'x')] as const);
    const tree = { ...Object.fromEntries(small), big };
    const frozen = await freezeTree(house, tenant, tree);
    const hit = new Set<string>();
    faulty.fault = ({ path }) => {
      if (hit.has(path) || hit.size === 8) return undefined;
      hit.add(path);
      return fault;
    };
    await using there = await staged(house, inputs, tenant, { in: frozen });
    assert.equal(hit.size, Math.min(files, 8));
    const expected = Object.fromEntries(Object.entries(tree).map(([path, bytes]) => [path, bytes.toString('latin1')]));
    assert.deepEqual(filesUnder(there.mounts[1]?.source ?? ''), expected);
  });
}

test('a store that stays away ends in one clear error, and what was fetched is kept for the next try', async () => {
  await using faulty = await openHttpProxy(bed.installation.store.endpoint);
  await using contents = await contentsAs(house, 'worker', { endpoint: faulty.url });
  await using inputs = await openCache(bed, contents);
  const tenant = bed.tenant();
  const frozen = await freezeTree(house, tenant, { first: 'kept', second: 'not to be had' });
  const away = sha256('not to be had').slice('sha256:'.length);
  faulty.fault = ({ path }) => (path.endsWith(away) ? { kind: 'status', status: 503 } : undefined);
  await assert.rejects(staged(house, inputs, tenant, { in: frozen }), failsAs('store_unavailable', /503/));
  assert.deepEqual(readdirSync(join(inputs.places.tenants, tenant, 'trees')), []);
  faulty.fault = () => undefined;
  faulty.seen.length = 0;
  await using there = await staged(house, inputs, tenant, { in: frozen });
  assert.deepEqual(filesUnder(there.mounts[1]?.source ?? ''), { first: 'kept', second: 'not to be had' });
  assert.equal(faulty.seen.length, 1);
});

test('a store that does not let us is told at once, and not asked again', async () => {
  await using faulty = await openHttpProxy(bed.installation.store.endpoint);
  await using contents = await contentsAs(house, 'worker', { endpoint: faulty.url });
  await using inputs = await openCache(bed, contents);
  const tenant = bed.tenant();
  const frozen = await freezeTree(house, tenant, { 'a.csv': '1' });
  faulty.fault = () => ({ kind: 'status', status: 403 });
  await assert.rejects(
    staged(house, inputs, tenant, { in: frozen }),
    failsAs('forbidden', /does not let this process/),
  );
  assert.deepEqual(readdirSync(inputs.places.unfinished), []);
  assert.equal(inputs.bytes, 0);
});

for (const files of [3, 200])
  test(`a full disk is told, and when there is room again ${files} files are whole`, async () => {
    const small = await bed.folder('small-disk');
    await must(['mount', '-t', 'tmpfs', '-o', 'size=3m', 'hotcell-test', small]);
    try {
      await using contents = await contentsAs(house, 'worker');
      await using inputs = await openCache(bed, contents, 2 ** 30, join(small, 'cache'));
      const tenant = bed.tenant();
      const tree = Object.fromEntries(Array.from({ length: files - 1 }, (_, i) => [`f${i}`, `small ${i}`]));
      const frozen = await freezeTree(house, tenant, { ...tree, big: 'x'.repeat(2 ** 22) });
      await assert.rejects(
        staged(house, inputs, tenant, { in: frozen }),
        failsAs('internal', /disk of this worker is full/),
      );
      assert.deepEqual(readdirSync(inputs.places.unfinished), []);
      assert.deepEqual(readdirSync(join(inputs.places.tenants, tenant, 'trees')), []);
      await must(['mount', '-o', 'remount,size=32m', small]);
      await using there = await staged(house, inputs, tenant, { in: frozen });
      assert.deepEqual(filesUnder(there.mounts[1]?.source ?? ''), { ...tree, big: 'x'.repeat(2 ** 22) });
    } finally {
      await must(['umount', small]);
    }
  });

test('of many files one that is wrong is named, and the others count for the next try', async () => {
  await using contents = await contentsAs(house, 'worker', { endpoint: proxy.url });
  await using inputs = await openCache(bed, contents);
  const tenant = bed.tenant();
  const tree = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}`, `content ${i}`]));
  const frozen = await freezeTree(house, tenant, { ...tree, 'wrong.csv': 'as frozen' });
  const key = recordKeys.cas(tenant, sha256('as frozen'));
  await house.store.put(house.store.record, key, 'as Frozen');
  await assert.rejects(staged(house, inputs, tenant, { in: frozen }), failsAs('input_damaged', /wrong\.csv/));
  assert.deepEqual(readdirSync(inputs.places.unfinished), []);
  await house.store.put(house.store.record, key, 'as frozen');
  const asked = () => proxy.seen.filter((seen) => seen.path.includes(tenant)).length;
  const before = { bytes: inputs.bytes, asked: asked() };
  await using there = await staged(house, inputs, tenant, { in: frozen });
  assert.deepEqual(filesUnder(there.mounts[1]?.source ?? ''), { ...tree, 'wrong.csv': 'as frozen' });
  assert.ok(before.bytes > 0 && asked() - before.asked < 301, 'what was done already is kept');
  const bytes = Object.values(tree).reduce((sum, text) => sum + text.length, 0) + 'as frozen'.length;
  assert.equal(inputs.bytes, bytes);
});

test('two runs that share most of many files fetch each of them once', async () => {
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

test('a bit that flips on the disk is caught before use when the policy says so, and its bytes are fetched again', async () => {
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

test('a bit that flips on the disk is found in the background, and goes with every tree that holds it', async () => {
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
  await until('the damaged trees are out of sight', async () => readdirSync(trees).length === 0);
  enough.abort();
  await scrubbing;
  await using there = await staged(house, inputs, tenant, { in: two });
  assert.deepEqual(filesUnder(there.mounts[1]?.source ?? ''), { c: 'as frozen', d: '2' });
});

test('when room is needed, what was used longest ago goes, and never what is in use', async () => {
  await using contents = await contentsAs(house, 'worker');
  const tenant = bed.tenant();
  const content = (letter: string) => Buffer.alloc(1000, letter);
  const [a, b, c, d] = await Promise.all(
    ['a', 'b', 'c', 'd'].map((letter) => freezeTree(house, tenant, { [letter]: content(letter) })),
  );
  assert.ok(a && b && c && d);
  await using inputs = await openCache(bed, contents, 3000);
  const inUse = await staged(house, inputs, tenant, { in: a });
  for (const frozen of [b, c]) await (await staged(house, inputs, tenant, { in: frozen }))[Symbol.asyncDispose]();
  // Being looked at is not being used.
  for (let i = 0; i < 3; i++) assert.equal(await inputs.verifyOldest(), true);
  await (await staged(house, inputs, tenant, { in: d }))[Symbol.asyncDispose]();
  const trees = readdirSync(join(inputs.places.tenants, tenant, 'trees')).filter((name) => !name.includes('.'));
  assert.deepEqual(trees.toSorted(), [a, c, d].map(({ snapshot }) => snapshot.slice('sha256:'.length)).toSorted());
  assert.equal(inputs.bytes, 3000);
  assert.deepEqual(filesUnder(inUse.mounts[1]?.source ?? ''), { a: content('a').toString() });
  await inUse[Symbol.asyncDispose]();
  const tooBig = await freezeTree(house, tenant, { e: Buffer.alloc(3001, 'e') });
  await assert.rejects(staged(house, inputs, tenant, { in: tooBig }), failsAs('internal', /HOTCELL_CACHE_BYTES/));
});

test('a run that is given up leaves what others wait for, and stops what nobody waits for', async () => {
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

test('two workers cannot have one cache', async () => {
  await using contents = await contentsAs(house, 'worker');
  const folder = join(await bed.folder('cache'), 'cache');
  await using _inputs = await openCache(bed, contents, 2 ** 20, folder);
  await assert.rejects(openCache(bed, contents, 2 ** 20, folder), failsAs('internal', /another worker/));
});
