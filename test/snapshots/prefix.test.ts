import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import type { Source } from '@hotcell/contract/sources.ts';
import { freezePrefix } from '@hotcell/producer/freeze/prefix.ts';
import { listPrefix } from '@hotcell/producer/freeze/listing.ts';
import { readObject } from '@hotcell/producer/freeze/read-object.ts';
import { resolveInput } from '@hotcell/producer/snapshots/resolve.ts';
import { verifySnapshot } from '@hotcell/producer/snapshots/verify-snapshot.ts';
import { checkout } from '@hotcell/setup/settings/installation.ts';
import { openBed } from '../support/bed.ts';
import { failsAs } from '../support/fails-as.ts';
import { contentsAs, openCache, staged } from '../support/freezing.ts';
import { openHouse } from '../support/house.ts';
import { openHttpProxy } from '../support/http-proxy.ts';
import { startProducer } from '../support/producer.ts';

const bed = await openBed();
const house = await openHouse(bed);
/** Two foreign buckets: one keeps versions, the other does not. */
const lake = await openHouse(bed);
const lakeProxy = await openHttpProxy(bed.installation.store.endpoint);
const ownProxy = await openHttpProxy(bed.installation.store.endpoint);
after(async () => {
  await house[Symbol.asyncDispose]();
  await lake[Symbol.asyncDispose]();
  await lakeProxy[Symbol.asyncDispose]();
  await ownProxy[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const versioned = lake.store.record;
const unversioned = lake.store.work;
const { accessKey, secretKey, region } = bed.installation.store;
const opened = { endpoint: lakeProxy.url, accessKey, secretKey, region };
const sources: Source[] = [
  { bucket: versioned, ...opened, prefixes: ['open/'] },
  { bucket: unversioned, ...opened, prefixes: ['open/'], tenants: [house.tenant] },
];
const contents = await contentsAs(house, 'producer', { sources, endpoint: ownProxy.url });
after(() => contents[Symbol.asyncDispose]());
const deps = { store: house.producer.store, contents, spool: join(await bed.folder('spool'), 'spool') };
const { tenant } = house;

const put = (bucket: string, key: string, text: string | Buffer) => lake.store.put(bucket, key, text);
const freeze = (prefix: string, mode: 'copy' | 'reference' = 'copy', bucket = versioned, by = tenant) =>
  freezePrefix(deps, by, { bucket, prefix }, { mode, by: 'test' });
const readsOf = (prefix: string) =>
  lakeProxy.seen.filter((s) => s.method === 'GET' && s.path.startsWith(`/${versioned}/${prefix}`));

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
  await lake.store.delete(versioned, 'open/ref/a.csv', at.versionId);
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
  const [object] = await listPrefix(lake.store, place, 'copy');
  assert.ok(object);
  const source = sources[1];
  assert.ok(source);
  const from = { store: contents.openSource(source), bucket: unversioned, object };
  await put(unversioned, 'open/changing/a.csv', 'bbbb');
  const keepFor = { tenant, anew: false };
  await assert.rejects(readObject(deps, from, keepFor), failsAs('conflict', /changing\/a\.csv was overwritten/));
  await put(unversioned, 'open/changing/a.csv', 'longer than before');
  await assert.rejects(readObject(deps, from, keepFor), failsAs('conflict', /a\.csv changed from 4 to 18 bytes/));
  await lake.store.delete(unversioned, 'open/changing/a.csv');
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
    listPrefix(lake.store, place, 'copy', { files: 5, bytes: 1000 }),
    failsAs('too_large', /more than 5 files/),
  );
  await assert.rejects(
    listPrefix(lake.store, place, 'copy', { files: 100, bytes: 59 }),
    failsAs('too_large', /more than 59 bytes/),
  );
  assert.equal((await listPrefix(lake.store, place, 'copy', { files: 6, bytes: 60 })).length, 6);
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

for (const point of ['freeze-object-kept', 'snapshot-locations-put', 'snapshot-manifest-put', 'freeze-snapshot-put']) {
  test(`a producer that dies at ${point} leaves nothing partial, and the next freeze succeeds`, async () => {
    const prefix = `open/death-${point}/`;
    for (let i = 0; i < 4; i++) await put(versioned, `${prefix}${i}`, `${point} ${i}`);
    const file = join(await bed.folder('sources'), 'sources.json');
    writeFileSync(file, JSON.stringify({ version: 1, sources }));
    const body = JSON.stringify({ source: `s3://${versioned}/${prefix}`, name: 'after-death' });
    {
      await using dying = await startProducer(bed, house, { HOTCELL_SOURCES: file, HOTCELL_CRASH_AT: point });
      const key = await dying.key();
      await assert.rejects(async () => await (await dying.ask('POST', '/v1/snapshots', { body, key })).text());
      assert.equal((await dying.child.ended).signal, 'SIGKILL', dying.child.said());
    }
    await using producer = await startProducer(bed, house, { HOTCELL_SOURCES: file });
    const listing = await producer.ask('GET', '/v1/snapshots?limit=1000');
    const { snapshots } = (await listing.json()) as { snapshots: { id: `sha256:${string}`; mode: string }[] };
    // An earlier test has removed what it froze by reference.
    for (const { id } of snapshots.filter(({ mode }) => mode === 'copy'))
      assert.deepEqual((await verifySnapshot(deps, tenant, id)).problems, []);
    const answer = await producer.ask('POST', '/v1/snapshots', { body });
    assert.equal(answer.status, 201, await answer.clone().text());
    const { id, files } = (await answer.json()) as { id: `sha256:${string}`; files: number };
    assert.equal(files, 4);
    assert.deepEqual((await verifySnapshot(deps, tenant, id)).problems, []);
    assert.equal((await resolveInput(deps, tenant, 'after-death')).snapshot, id);
  });
}

test('a long freeze reports its progress and ends with its snapshot', async () => {
  for (let i = 0; i < 5; i++) await put(versioned, `open/told/${i}`, `told ${i}`);
  const file = join(await bed.folder('sources'), 'sources.json');
  writeFileSync(file, JSON.stringify({ version: 1, sources }));
  await using producer = await startProducer(bed, house, { HOTCELL_SOURCES: file });
  const headers = { accept: 'application/x-ndjson' };
  const asked = async (source: string) => {
    const text = await (
      await producer.ask('POST', '/v1/snapshots', { headers, body: JSON.stringify({ source }) })
    ).text();
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; files?: number; code?: string });
  };
  const lines = await asked(`s3://${versioned}/open/told/`);
  assert.equal(lines.at(-1)?.type, 'snapshot');
  assert.equal(lines.at(-1)?.files, 5);
  assert.ok(lines.slice(0, -1).every((line) => line.type === 'progress'));
  assert.equal((await asked(`s3://${versioned}/closed/`)).at(-1)?.code, 'forbidden');
});

test('a prefix can be frozen by a command and by a request; a second freeze reads only new objects, and a reference copies none', async () => {
  for (let i = 0; i < 5; i++) await put(versioned, `open/command/${i}`, `command ${i}`);
  const file = join(await bed.folder('sources'), 'sources.json');
  writeFileSync(file, JSON.stringify({ version: 1, sources }));
  await using producer = await startProducer(bed, house, { HOTCELL_SOURCES: file });
  const key = await producer.key();
  const create = async (...words: string[]) => {
    const env = { PATH: process.env['PATH'] ?? '', HOTCELL_URL: producer.url, HOTCELL_API_KEY: key };
    const command = [
      join(checkout, 'clients/cli/cli-main.ts'),
      'snapshot',
      'create',
      `s3://${versioned}/open/command/`,
    ];
    const { stdout } = await promisify(execFile)(process.execPath, [...command, '--json', ...words], { env });
    return JSON.parse(stdout) as { id: `sha256:${string}`; name?: string; files: number; bytes: number };
  };
  const first = await create('--name', 'by-command');
  const { id, ...rest } = first;
  assert.deepEqual(rest, { name: 'by-command', files: 5, bytes: 45 });
  assert.equal(readsOf('open/command/').length, 5);
  await put(versioned, 'open/command/5', 'command 5');
  lakeProxy.seen.length = 0;
  const body = JSON.stringify({ source: `s3://${versioned}/open/command/`, name: 'by-command' });
  const second = (await (await producer.ask('POST', '/v1/snapshots', { body })).json()) as typeof first;
  assert.equal(second.files, 6);
  assert.deepEqual(
    readsOf('open/command/').map((seen) => seen.path),
    [`/${versioned}/open/command/5`],
  );
  await put(versioned, 'open/command/6', 'only referred to');
  const referred = await create('--mode', 'reference');
  assert.equal(referred.files, 7);
  const copied = recordKeys.cas(tenant, sha256('only referred to'));
  assert.equal(await house.store.head(house.store.record, copied), undefined);
  for (const made of [id, second.id, referred.id])
    assert.deepEqual((await verifySnapshot(deps, tenant, made)).problems, []);
});
