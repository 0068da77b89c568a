import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { manifestOf } from '@hotcell/contract/snapshot.ts';
import { locationsOf } from '@hotcell/record/snapshot-locations.ts';
import { putSnapshot } from '@hotcell/record/snapshot-store.ts';
import { must } from '@hotcell/setup/command.ts';
import { fileUse, treeUse } from '@hotcell/executor-worker/inputs/disk-use.ts';
import { openBed } from '../support/bed.ts';
import { failsAs } from '../support/fails-as.ts';
import { filesUnder } from '../support/files-under.ts';
import { contentsAs, freezeTree, openCache, staged } from '../support/freezing.ts';
import { openHouse } from '../support/house.ts';
import { openHttpProxy } from '../support/http-proxy.ts';

const bed = await openBed();
const house = await openHouse(bed);
const proxy = await openHttpProxy(bed.installation.store.endpoint);
after(async () => {
  await house[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

test('a location map that leads to another tenant is refused', async () => {
  await using contents = await contentsAs(house, 'worker');
  await using inputs = await openCache(bed, contents);
  const [victim, thief] = [bed.tenant(), bed.tenant()];
  await freezeTree(house, victim, { secret: 'theirs' });
  const digest = sha256('theirs');
  const location = { bucket: house.store.record, key: recordKeys.cas(victim, digest) };
  const made = await putSnapshot(house.store, thief, [{ path: 'x', size: 6, sha256: digest, location }]);
  await assert.rejects(
    staged(house, inputs, thief, { in: made }),
    failsAs('input_damaged', /not where the contents of/),
  );
});

test('a manifest or location map that was changed in the store is refused', async () => {
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

test('bytes that were changed in the bucket after the freeze are found before there is a tree', async () => {
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

test('missing content is named', async () => {
  await using contents = await contentsAs(house, 'worker');
  await using inputs = await openCache(bed, contents);
  const tenant = bed.tenant();
  const frozen = await freezeTree(house, tenant, { 'gone.csv': 'here today' });
  const key = recordKeys.cas(tenant, sha256('here today'));
  await house.store.delete(house.store.record, key);
  await assert.rejects(
    staged(house, inputs, tenant, { in: frozen }),
    failsAs('input_missing', /gone\.csv.*is no longer in the store/),
  );
});

const faults = [
  { kind: 'status', status: 503 },
  { kind: 'status', status: 500 },
  { kind: 'cut_answer' },
  { kind: 'stall_answer' },
  { kind: 'bend_answer' },
] as const;
// The main thread fetches few files, threads fetch many.
const faultsOf = faults.flatMap((fault) =>
  ('status' in fault && fault.status === 500 ? [2] : [2, 80]).map((files) => ({ fault, files })),
);
for (const { fault, files } of faultsOf) {
  const what = 'status' in fault ? `status ${fault.status}` : fault.kind;
  test(`a store with occasional faults (${what}) among ${files} files only costs time`, async () => {
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

test('a store that stays away gives one clear error, and fetched contents are kept for the next try', async () => {
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

test('a store that denies access is reported at once and not asked again', async () => {
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
  test(`a full disk is reported, and with room again ${files} files are whole`, async () => {
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

test('one wrong file among many is named, and the others are kept for the next try', async () => {
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
  assert.ok(before.bytes > 0 && asked() - before.asked < 301, 'contents fetched before are kept');
  const bytes = Object.values(tree).reduce((sum, text) => sum + fileUse(text.length), fileUse('as frozen'.length));
  assert.equal(inputs.bytes, bytes + treeUse({ files: 301, folders: 1 }));
});
