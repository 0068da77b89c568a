import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { freezePrefix } from '@hotcell/producer/freeze/prefix.ts';
import { listPrefix } from '@hotcell/producer/freeze/listing.ts';
import { readObject } from '@hotcell/producer/freeze/read-object.ts';
import { resolveInput } from '@hotcell/producer/snapshots/resolve.ts';
import { verifySnapshot } from '@hotcell/producer/snapshots/verify-snapshot.ts';
import { openBed } from '../support/bed.ts';
import { openLake } from '../support/lake.ts';
import { failsAs } from '../support/fails-as.ts';
import { contentsAs, openCache, staged } from '../support/freezing.ts';

const bed = await openBed();
const lake = await openLake(bed);
after(async () => {
  await lake[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});
const { house, lakeProxy, ownProxy, versioned, unversioned, sources, contents, deps, put, readsOf } = lake;
const { tenant } = house;
const freeze = (prefix: string, mode: 'copy' | 'reference' = 'copy', bucket = versioned, by = tenant) =>
  freezePrefix(deps, by, { bucket, prefix }, { mode, by: 'test' });

test('a prefix is read once, by version; a later freeze reads only new objects, and the id does not depend on the place', async () => {
  for (let i = 0; i < 12; i++) await put(versioned, `open/daily/day=${i}/x.csv`, `day ${i}`);
  await put(versioned, 'open/daily/big.bin', Buffer.alloc(9 * 2 ** 20, 3));
  await put(versioned, 'open/daily-not-this/x.csv', 'another folder');
  const first = await freeze('open/daily/');
  assert.equal(first.files, 13);
  assert.equal(readsOf('open/daily/').length, 13);
  assert.ok(readsOf('open/daily/').every((seen) => seen.query.includes('versionId=')));
  lakeProxy.seen.length = 0;
  ownProxy.seen.length = 0;
  assert.equal((await freeze('open/daily')).snapshot, first.snapshot, 'with or without the slash');
  assert.deepEqual(readsOf('open/daily/').length, 13, 'another address is another memory');
  assert.equal((await freeze('open/daily/')).snapshot, first.snapshot);
  assert.equal(readsOf('open/daily/').length, 13);
  await put(versioned, 'open/daily/day=3/x.csv', 'day 3, corrected');
  await put(versioned, 'open/daily/day=12/x.csv', 'day 12');
  lakeProxy.seen.length = 0;
  const next = await freeze('open/daily/');
  assert.equal(next.files, 14);
  assert.deepEqual(
    readsOf('open/daily/')
      .map((seen) => seen.path)
      .toSorted(),
    [12, 3].map((day) => `/${versioned}/open/daily/day=${day}/x.csv`),
  );
  assert.deepEqual((await verifySnapshot(deps, tenant, next.snapshot)).problems, []);
  assert.deepEqual((await verifySnapshot(deps, tenant, first.snapshot)).problems, []);
  const byReference = await freeze('open/daily/', 'reference', versioned, bed.tenant());
  assert.equal(byReference.snapshot, next.snapshot);
  assert.notEqual(byReference.locations, next.locations);
});

test('a reference reads the frozen version, even after an overwrite, and names a version that is gone', async () => {
  const at = await put(versioned, 'open/ref/a.csv', 'as frozen');
  const frozen = await freeze('open/ref/', 'reference');
  await put(versioned, 'open/ref/a.csv', 'as written later');
  await using cached = await contentsAs(house, 'worker', { sources });
  await using inputs = await openCache(bed, cached);
  const there = await staged(house, inputs, tenant, { in: frozen });
  assert.equal(readFileSync(join(there.mounts[1]?.source ?? '', 'a.csv'), 'utf8'), 'as frozen');
  await there[Symbol.asyncDispose]();
  await lake.foreign.store.delete(versioned, 'open/ref/a.csv', at.versionId);
  await using empty = await openCache(bed, cached);
  await assert.rejects(staged(house, empty, tenant, { in: frozen }), failsAs('input_missing', /a\.csv.*version/));
  const verdict = await verifySnapshot(deps, tenant, frozen.snapshot);
  assert.equal(verdict.verified, false);
  assert.deepEqual(
    verdict.problems.map((problem) => problem.path),
    ['a.csv'],
  );
  await using closed = await contentsAs(house, 'worker', { sources: [] });
  await using strict = await openCache(bed, closed);
  await assert.rejects(staged(house, strict, tenant, { in: frozen }), failsAs('input_missing', /HOTCELL_SOURCES/));
});

test('freezing a prefix again restores lost content', async () => {
  await put(versioned, 'open/lost/a.csv', 'lost later');
  await put(versioned, 'open/lost/b.csv', 'kept');
  const frozen = await freeze('open/lost/');
  const { store } = house;
  await store.deleteMany(store.record, [recordKeys.cas(tenant, sha256('lost later'))]);
  assert.equal((await verifySnapshot(deps, tenant, frozen.snapshot)).verified, false);
  lakeProxy.seen.length = 0;
  assert.equal((await freeze('open/lost/')).snapshot, frozen.snapshot);
  assert.deepEqual(
    readsOf('open/lost/').map((seen) => seen.path),
    [`/${versioned}/open/lost/a.csv`],
  );
  assert.equal((await verifySnapshot(deps, tenant, frozen.snapshot)).verified, true);
});

test('freezing by reference needs a versioned bucket; copying does not', async () => {
  await put(unversioned, 'open/plain/a.csv', '1');
  await assert.rejects(
    freeze('open/plain/', 'reference', unversioned),
    failsAs('snapshot_refused', /a\.csv has no version/),
  );
  const frozen = await freeze('open/plain/', 'copy', unversioned);
  assert.deepEqual((await verifySnapshot(deps, tenant, frozen.snapshot)).problems, []);
});

test('an object that is overwritten between listing and reading is named', async () => {
  await put(unversioned, 'open/changing/a.csv', 'aaaa');
  const place = { bucket: unversioned, prefix: 'open/changing/' };
  const [object] = await listPrefix(lake.foreign.store, place, 'copy');
  assert.ok(object);
  const source = sources[1];
  assert.ok(source);
  const from = { store: contents.openSource(source), bucket: unversioned, object };
  await put(unversioned, 'open/changing/a.csv', 'bbbb');
  const keepFor = { tenant, anew: false };
  await assert.rejects(readObject(deps, from, keepFor), failsAs('conflict', /changing\/a\.csv was overwritten/));
  await put(unversioned, 'open/changing/a.csv', 'longer than before');
  await assert.rejects(readObject(deps, from, keepFor), failsAs('conflict', /a\.csv changed from 4 to 18 bytes/));
  await lake.foreign.store.delete(unversioned, 'open/changing/a.csv');
  await assert.rejects(readObject(deps, from, keepFor), failsAs('conflict', /a\.csv was deleted/));
});

test('two freezes of a prefix that is being written to each hold versions that existed', async () => {
  const written = new Map<string, Set<string>>();
  const write = async (key: string, text: string) => {
    written.set(key, (written.get(key) ?? new Set()).add(sha256(text)));
    await put(versioned, key, text);
  };
  for (let i = 0; i < 20; i++) await write(`open/busy/f${i}`, `before ${i}`);
  const stop = new AbortController();
  const writing = (async () => {
    for (let i = 0; !stop.signal.aborted; i++) await write(`open/busy/f${i % 25}`, `while ${i}`);
  })();
  let both: Awaited<ReturnType<typeof freeze>>[];
  try {
    both = await Promise.all([freeze('open/busy/'), freeze('open/busy/', 'reference', versioned, bed.tenant())]);
  } finally {
    stop.abort();
    await writing;
  }
  const [copied] = both;
  assert.ok(copied && copied.files >= 20);
  const verdict = await verifySnapshot(deps, tenant, copied.snapshot);
  assert.deepEqual(verdict.problems, []);
  const { manifestAt } = await import('@hotcell/record/snapshot-store.ts');
  for (const entry of await manifestAt(house.store, tenant, copied.snapshot))
    assert.ok(written.get(`open/busy/${entry.path}`)?.has(entry.sha256), entry.path);
});

test('only sources that the operator opened are read, and never our own buckets', async () => {
  for (const [bucket, prefix] of [
    [versioned, 'closed/'],
    [versioned, ''],
    [house.store.record, ''],
    ['somewhere', 'open/'],
  ] as const)
    await assert.rejects(freeze(prefix, 'copy', bucket), failsAs('forbidden', /may not read s3:/));
  await assert.rejects(
    freeze('open/plain/', 'copy', unversioned, bed.tenant()),
    failsAs('forbidden', /may not read s3:/),
  );
});

test('an empty prefix, or one with names that cannot be mounted, is refused before anything is read', async () => {
  await assert.rejects(freeze('open/empty/'), failsAs('snapshot_refused', /no files/));
  for (const key of ['A.csv', 'a.csv', 'fine.csv', 'x', 'X/y']) await put(versioned, `open/bad/${key}`, '1');
  lakeProxy.seen.length = 0;
  await assert.rejects(freeze('open/bad/'), (error: unknown) => {
    assert.ok(error instanceof HotcellError);
    assert.deepEqual(
      error.issues.map((issue) => issue.path),
      ['A.csv', 'X/y', 'a.csv', 'x'],
    );
    return true;
  });
  assert.deepEqual(readsOf('open/bad/'), []);
});

test('listing stops at the limits of files and bytes', async () => {
  for (let i = 0; i < 6; i++) await put(versioned, `open/many/${i}`, 'ten bytes.');
  const place = { bucket: versioned, prefix: 'open/many/' };
  await assert.rejects(
    listPrefix(lake.foreign.store, place, 'copy', { files: 5, bytes: 1000 }),
    failsAs('too_large', /more than 5 files/),
  );
  await assert.rejects(
    listPrefix(lake.foreign.store, place, 'copy', { files: 100, bytes: 59 }),
    failsAs('too_large', /more than 59 bytes/),
  );
  assert.equal((await listPrefix(lake.foreign.store, place, 'copy', { files: 6, bytes: 60 })).length, 6);
});

test('a source that fails midway leaves no snapshot, and the next try reads only the rest', async () => {
  for (let i = 0; i < 6; i++) await put(versioned, `open/failing/${i}`, `failing ${i}`);
  lakeProxy.fault = ({ path }) => (path.endsWith('failing/4') ? { kind: 'status', status: 503 } : undefined);
  await assert.rejects(freeze('open/failing/'), failsAs('store_unavailable', /failing\/4/));
  lakeProxy.fault = () => undefined;
  lakeProxy.seen.length = 0;
  const frozen = await freeze('open/failing/');
  assert.deepEqual(
    readsOf('open/failing/').map((seen) => seen.path),
    [`/${versioned}/open/failing/4`],
  );
  assert.deepEqual((await verifySnapshot(deps, tenant, frozen.snapshot)).problems, []);
});

test('an input that names a prefix is frozen on resolution', async () => {
  await put(versioned, 'open/asked/x.csv', 'now');
  const resolved = await resolveInput(deps, tenant, `s3://${versioned}/open/asked/`);
  await put(versioned, 'open/asked/x.csv', 'later');
  await using cached = await contentsAs(house, 'worker');
  await using inputs = await openCache(bed, cached);
  await using there = await staged(house, inputs, tenant, { in: resolved });
  assert.equal(readFileSync(join(there.mounts[1]?.source ?? '', 'x.csv'), 'utf8'), 'now');
});
