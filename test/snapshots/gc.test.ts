import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Digest } from '@hotcell/contract/digest.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { recordKeys, workKeys } from '@hotcell/record/layout.ts';
import type { SweepMark } from '@hotcell/record/schemas.ts';
import type { Source } from '@hotcell/contract/sources.ts';
import { publishName } from '@hotcell/record/snapshot-name.ts';
import type { PutResult, PutOptions } from '@hotcell/outside/store/store-put.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { closeLease, openLease } from '@hotcell/record/gc/freeze-lease.ts';
import { freezePrefix } from '@hotcell/producer/freeze/prefix.ts';
import { type CollectOptions, collectGarbage } from '@hotcell/record/gc/collect-garbage.ts';
import { resolveInput } from '@hotcell/producer/snapshots/resolve.ts';
import { verifySnapshot } from '@hotcell/producer/snapshots/verify-snapshot.ts';
import { age } from '../support/aged.ts';
import { openBed } from '../support/bed.ts';
import { failsAs } from '../support/fails-as.ts';
import { spawnNode } from '../support/child.ts';
import { contentsAs, freezeTree } from '../support/freezing.ts';
import { openHouse } from '../support/house.ts';
import { keysOf, resultOf } from '../support/promise.ts';

const bed = await openBed();
const house = await openHouse(bed);
const { store } = house;
const { accessKey, secretKey, region, endpoint } = bed.installation.store;
const lake = await openHouse(bed);
const source: Source = { bucket: lake.store.record, endpoint, accessKey, secretKey, region, prefixes: ['open/'] };
const contents = await contentsAs(house, 'producer', { sources: [source] });
after(async () => {
  await contents[Symbol.asyncDispose]();
  await lake[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});
const deps = { store: house.producer.store, contents, spool: await bed.folder('spool') };

/** Makes everything that is kept for a tenant days old. */
async function agedAll(tenant: string): Promise<void> {
  for (const prefix of [`cas/${tenant}`, `snapshots/${tenant}`]) await age(bed, store.record, prefix);
}
async function collect(tenant: string, options: Partial<CollectOptions> = {}) {
  const reports = await collectGarbage(store, { dryRun: false, wait: () => Promise.resolve(), ...options });
  const report = reports.find((one) => one.tenant === tenant);
  assert.ok(report, `nothing was said of ${tenant}`);
  return report;
}
const sound = async (tenant: string, id: Digest) =>
  assert.deepEqual((await verifySnapshot(deps, tenant, id)).problems, []);
const isGone = (what: RegExp) => failsAs('not_found', what);
const thereOf = async (tenant: string) => [
  ...(await keysOf(store, store.record, `cas/${tenant}/`)),
  ...(await keysOf(store, store.record, `snapshots/${tenant}/`)),
];

test('everything that is young, or that a name, a result or an open run refers to, stays; the rest goes, with all versions', async () => {
  await using own = await openHouse(bed);
  const { tenant } = own;
  const named = await freezeTree(own, tenant, { a: 'named', shared: 'in both' });
  await publishName(own.store, tenant, 'kept', named.snapshot, 'a test');
  const asked = await freezeTree(own, tenant, { b: 'asked for by a run that has not begun' });
  const inputs = [{ name: 'in', snapshot: asked.snapshot, locations: asked.locations, source: 'kept' }];
  await own.submit('print 1', { spec: { inputs }, queue: 'nobody' });
  await own.worker('one');
  const { run } = await own.submit('output result');
  const { outputs } = await resultOf(own, run);
  const written = outputs.files[0]?.sha256 ?? sha256('');
  const garbage = await freezeTree(own, tenant, { c: 'garbage', shared: 'in both' });
  await own.store.put(own.store.record, recordKeys.cas(tenant, sha256('loose')), 'loose');
  for (const prefix of [`cas/${tenant}`, `snapshots/${tenant}`]) await age(bed, own.store.record, prefix);
  const young = await freezeTree(own, tenant, { d: 'young' });

  const before = await keysOf(own.store, own.store.record);
  const expected = {
    tenant,
    snapshots: 1,
    locations: 1,
    contents: 2,
    superseded: 0,
    refusals: 0,
    protected: 0,
    skipped: null,
  };
  const dry = await collectGarbage(own.store, { dryRun: true });
  assert.deepEqual(await keysOf(own.store, own.store.record), before);
  const listed: string[] = [];
  const [done] = await collectGarbage(own.store, {
    dryRun: false,
    wait: () => Promise.resolve(),
    listed: (plan) => listed.push(...plan.contents.map(({ key }) => key)),
  });
  assert.deepEqual(dry, [done]);
  const { bytes, ...counts } = done ?? { bytes: 0 };
  assert.deepEqual(counts, expected);
  assert.ok(bytes > 'garbageloose'.length);
  const expectedGone = [
    ...['garbage', 'loose'].map((text) => recordKeys.cas(tenant, sha256(text))),
    recordKeys.locations(tenant, garbage.locations),
    recordKeys.manifest(tenant, garbage.snapshot),
    recordKeys.snapshotRecord(tenant, garbage.snapshot),
  ];
  assert.deepEqual(listed.toSorted(), expectedGone.slice(0, 2).toSorted());
  const left = await keysOf(own.store, own.store.record);
  assert.deepEqual(before.filter((key) => !left.includes(key)).toSorted(), expectedGone.toSorted());
  for (const key of expectedGone)
    for await (const version of own.store.listVersions(own.store.record, key)) assert.fail(`${version.key} is left`);
  await using read = await contentsAs(own, 'producer');
  for (const { snapshot } of [named, asked, young])
    assert.deepEqual((await verifySnapshot({ store: own.store, contents: read }, tenant, snapshot)).problems, []);
  assert.ok(await own.store.head(own.store.record, recordKeys.cas(tenant, written)));
});

test('a name that refers to a collected snapshot says so, and what to do', async () => {
  const tenant = bed.tenant();
  const frozen = await freezeTree(house, tenant, { a: '1' });
  await publishName(store, tenant, 'daily', frozen.snapshot, 'a test');
  const record = recordKeys.snapshotRecord(tenant, frozen.snapshot);
  for await (const { key, versionId } of store.listVersions(store.record, record))
    await store.delete(store.record, key, versionId);
  await assert.rejects(
    resolveInput(deps, tenant, 'daily'),
    isGone(/daily points to sha256:[0-9a-f]{64}, which was removed or collected as garbage\. Freeze its source again/),
  );
});

/** The same store, but writing a snapshot's record waits until `go`. */
class SlowToPut extends Buckets {
  readonly reached = Promise.withResolvers<void>();
  readonly go = Promise.withResolvers<void>();
  override async put(bucket: string, key: string, body: string | Uint8Array, options?: PutOptions): Promise<PutResult> {
    if (key.includes('/records/')) {
      this.reached.resolve();
      await this.go.promise;
    }
    return super.put(bucket, key, body, options);
  }
}

test('a snapshot that a run resolves during a collection stays whole', async () => {
  const tenant = bed.tenant();
  const wanted = await freezeTree(house, tenant, { a: 'wanted', shared: 'in both' });
  const other = await freezeTree(house, tenant, { b: 'unwanted', shared: 'in both' });
  await agedAll(tenant);
  using slow = new SlowToPut({ ...bed.installation.store, record: store.record, work: store.work });
  const taking = resolveInput({ ...deps, store: slow }, tenant, wanted.snapshot);
  await slow.reached.promise;
  const wait = async () => {
    assert.equal(await store.head(store.record, recordKeys.snapshotRecord(tenant, wanted.snapshot)), undefined);
    slow.go.resolve();
    await taking;
  };
  assert.equal((await collect(tenant, { wait })).snapshots, 2);
  await sound(tenant, wanted.snapshot);
  assert.equal((await taking).snapshot, wanted.snapshot);
  await assert.rejects(verifySnapshot(deps, tenant, other.snapshot), isGone(/Snapshot .* not found/));
  assert.equal(await store.head(store.record, recordKeys.cas(tenant, sha256('unwanted'))), undefined);
});

test('a run that resolves a snapshot too late is told so, and the record it restored goes the next time', async () => {
  const tenant = bed.tenant();
  const wanted = await freezeTree(house, tenant, { a: 'wanted' });
  await agedAll(tenant);
  using slow = new SlowToPut({ ...bed.installation.store, record: store.record, work: store.work });
  const taking = resolveInput({ ...deps, store: slow }, tenant, wanted.snapshot);
  await slow.reached.promise;
  assert.equal((await collect(tenant)).snapshots, 1);
  slow.go.resolve();
  await assert.rejects(taking, isGone(/Snapshot .* not found/));
  assert.deepEqual(await thereOf(tenant), [recordKeys.snapshotRecord(tenant, wanted.snapshot)]);
  assert.equal((await collect(tenant)).snapshots, 0, 'young');
  await age(bed, store.record, `snapshots/${tenant}`);
  assert.equal((await collect(tenant)).snapshots, 1);
  assert.deepEqual(await thereOf(tenant), []);
});

test('a freeze that begins during a collection does not rely on content that is about to go', async () => {
  const tenant = bed.tenant();
  await lake.store.put(source.bucket, 'open/again/a.csv', 'frozen twice');
  const place = { bucket: source.bucket, prefix: 'open/again/' };
  const freeze = () => freezePrefix(deps, tenant, place, { mode: 'copy', by: 'a test' });
  const first = await freeze();
  await agedAll(tenant);
  let again: typeof first | undefined;
  await collect(tenant, {
    wait: async () => {
      again = await freeze();
    },
  });
  assert.equal(again?.snapshot, first.snapshot);
  await sound(tenant, first.snapshot);
});

test('a tenant with a freeze under way is skipped; an abandoned freeze holds nothing up after a day', async () => {
  const tenant = bed.tenant();
  const garbage = await freezeTree(house, tenant, { a: 'garbage' });
  await agedAll(tenant);
  const lease = await openLease(house.producer.store, tenant);
  assert.match((await collect(tenant)).skipped ?? '', /a freeze is under way/);
  await sound(tenant, garbage.snapshot);
  await age(bed, store.work, `freezing/${tenant}`);
  assert.equal((await collect(tenant)).snapshots, 1);
  assert.deepEqual(await thereOf(tenant), []);
  await closeLease(house.producer.store, tenant, lease);
});

test('content with one young version stays, whichever version it is', async () => {
  const tenant = bed.tenant();
  const [again, once] = ['put again', 'put once'].map((text) => recordKeys.cas(tenant, sha256(text)));
  assert.ok(again && once);
  for (const key of [again, again, once]) await store.put(store.record, key, 'x');
  // Only the latest version of each is aged.
  await age(bed, store.record, `cas/${tenant}`);
  assert.equal((await collect(tenant)).contents, 1);
  assert.deepEqual(await thereOf(tenant), [again]);
});

test('locked content stays and is reported', async () => {
  const tenant = bed.tenant();
  const key = recordKeys.cas(tenant, sha256('locked'));
  await store.put(store.record, key, 'locked', {
    lock: { mode: 'GOVERNANCE', until: new Date(Date.now() + 5 * 60_000) },
  });
  await age(bed, store.record, `cas/${tenant}`);
  const report = await collect(tenant);
  assert.equal(report.protected, 1);
  assert.equal((await store.getBytes(store.record, key))?.toString(), 'locked');
});

test('a tenant whose records cannot be read loses nothing, and the others are still collected', async () => {
  const [unclear, clear] = [bed.tenant(), bed.tenant()];
  const kept = await freezeTree(house, unclear, { a: 'kept' });
  await publishName(store, unclear, 'kept', kept.snapshot, 'a test');
  await freezeTree(house, unclear, { b: 'garbage' });
  await freezeTree(house, clear, { b: 'garbage' });
  await store.put(store.record, recordKeys.manifest(unclear, kept.snapshot), 'bent');
  for (const tenant of [unclear, clear]) await agedAll(tenant);
  const before = await thereOf(unclear);
  assert.match((await collect(unclear)).skipped ?? '', /cannot tell what is still needed/);
  assert.deepEqual(await thereOf(unclear), before);
  assert.deepEqual(await thereOf(clear), []);
});

test('leftovers of broken uploads are removed', async () => {
  const tenant = bed.tenant();
  const key = recordKeys.cas(tenant, sha256('never finished'));
  const broken = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  async function* endless() {
    for (let i = 0; i < 3; i++) yield Buffer.alloc(5 * 2 ** 20);
    reached.resolve();
    await broken.promise;
    throw new Error('broken off');
  }
  const uploading = assert.rejects(store.upload(store.record, key, endless()), /broken off/);
  await reached.promise;
  await store.put(store.work, `${workKeys.uploads}${tenant}/x`, 'half');
  await freezeTree(house, tenant, { a: '1' });
  await collect(tenant, { graceMs: -60_000 });
  assert.deepEqual(
    (await store.halfUploads(store.record)).filter((half) => half.key === key),
    [],
  );
  assert.deepEqual(await keysOf(store, store.work, `uploads/${tenant}/`), []);
  broken.resolve();
  await uploading;
});

for (const point of ['gc-records-removed', 'gc-manifests-removed', 'gc-contents-removed']) {
  test(`a collector that dies at ${point} leaves no partial snapshot, and the next one removes the rest`, async () => {
    await using own = await openHouse(bed);
    const { tenant } = own;
    const kept = await freezeTree(own, tenant, { a: 'kept', shared: 'in both' });
    await publishName(own.store, tenant, 'kept', kept.snapshot, 'a test');
    await freezeTree(own, tenant, { b: 'garbage', shared: 'in both' });
    for (const prefix of [`cas/${tenant}`, `snapshots/${tenant}`]) await age(bed, own.store.record, prefix);
    const settings = { ...bed.installation.store, record: own.store.record, work: own.store.work };
    await using dying = spawnNode('test/faults/victims/collect.ts', {
      STORE: JSON.stringify(settings),
      HOTCELL_CRASH_AT: point,
    });
    assert.equal((await dying.ended).signal, 'SIGKILL', dying.said());
    await using read = await contentsAs(own, 'producer');
    const records = await keysOf(own.store, own.store.record, recordKeys.snapshotRecords(tenant));
    assert.deepEqual(records, [recordKeys.snapshotRecord(tenant, kept.snapshot)]);
    const options = { dryRun: false, wait: () => Promise.resolve() };
    await assert.rejects(collectGarbage(own.store, options), /Garbage has been collected since/);
    const past: SweepMark = { version: 1, at: '2020-01-01T00:00:00.000Z', until: '2020-01-01T00:10:00.000Z' };
    await own.store.put(own.store.work, workKeys.sweeping, JSON.stringify(past));
    await collectGarbage(own.store, options);
    assert.deepEqual((await verifySnapshot({ store: own.store, contents: read }, tenant, kept.snapshot)).problems, []);
    const left = await keysOf(own.store, own.store.record, `cas/${tenant}/`);
    assert.deepEqual(left, ['kept', 'in both'].map((text) => recordKeys.cas(tenant, sha256(text))).toSorted());
    const manifests = await keysOf(own.store, own.store.record, `snapshots/${tenant}/`);
    assert.equal(manifests.length, 3);
    assert.equal(await own.store.head(own.store.work, workKeys.sweeping), undefined);
  });
}
