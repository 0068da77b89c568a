import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { HashMemory } from '@hotcell/client/hashes/memory.ts';
import { uploadSnapshot } from '@hotcell/client/upload.ts';
import { walk } from '@hotcell/client/walk.ts';
import { openBed } from '../support/bed.ts';
import { contentsAs, openCache, staged, type Tree } from '../support/freezing.ts';
import { openHouse } from '../support/house.ts';
import { openHttpProxy } from '../support/http-proxy.ts';
import { startProducer } from '../support/producer.ts';
import { folderWith, idOf } from '../support/trees.ts';

const bed = await openBed();
const proxy = await openHttpProxy(bed.installation.store.endpoint);
const house = await openHouse(bed, { endpoint: proxy.url });
const producer = await startProducer(bed, house);
after(async () => {
  await producer[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const folderOf = (tree: Tree) => folderWith(bed, tree);

const contentPuts = () => proxy.seen.filter((s) => ['PUT', 'POST'].includes(s.method) && s.path.includes('/cas/'));

test('a folder is uploaded once; the same bytes again send nothing and give the same id', async () => {
  const client = await producer.client();
  const tree = { 'a/one.csv': '1,2,3', 'b.bin': Buffer.alloc(9 * 2 ** 20, 5), twin: '1,2,3', empty: '' };
  const folder = await folderOf(tree);
  proxy.seen.length = 0;
  const first = await uploadSnapshot(client, folder, { name: 'daily-sales' });
  assert.equal(first.id, idOf(tree));
  assert.equal(first.name, 'daily-sales');
  assert.equal(first.files, 4);
  assert.equal(first.bytes, 10 + 9 * 2 ** 20);
  assert.equal(new Set(contentPuts().map((seen) => seen.path)).size, 3, 'equal files are one content');
  proxy.seen.length = 0;
  const { name: _name, ...same } = first;
  assert.deepEqual(await uploadSnapshot(client, folder), same);
  assert.deepEqual(contentPuts(), []);
  await using contents = await contentsAs(house, 'worker');
  await using inputs = await openCache(bed, contents);
  await using there = await staged(house, inputs, house.tenant, {
    in: { snapshot: first.id, locations: first.locations },
  });
  assert.equal(there.inputs[0]?.bytes, first.bytes);
});

test('a large content that exists is recognised, even if the store hangs up before reading it', async () => {
  await using contents = await contentsAs(house, 'producer', { endpoint: bed.installation.store.endpoint });
  const bytes = Buffer.alloc(40 * 2 ** 20, 3);
  const digest = sha256(bytes);
  const put = () =>
    contents.own.put(house.store.record, recordKeys.cas(house.tenant, digest), bytes, hexOf(digest), {
      ifAbsent: true,
    });
  assert.deepEqual([await put(), await put(), await put()], [true, false, false]);
});

test('an interrupted upload continues with the rest', async () => {
  const client = await producer.client();
  const tree = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`f${i}`, `resumed ${i}`]));
  const folder = await folderOf(tree);
  proxy.seen.length = 0;
  const givingUp = new AbortController();
  const progress = ({ step, done }: { step: string; done: number }) => {
    if (step === 'sending' && done === 8) givingUp.abort(new Error('the connection broke'));
  };
  await assert.rejects(uploadSnapshot(client, folder, { signal: givingUp.signal, progress }), /the connection broke/);
  const sent = new Set(contentPuts().map((seen) => seen.path)).size;
  assert.ok(sent >= 8 && sent < 40, String(sent));
  const answer = await producer.ask('GET', `/v1/snapshots/${idOf(tree)}`);
  assert.equal(answer.status, 404, 'no part of it is a snapshot');
  const begun = await client.send('POST', '/v1/uploads', {
    json: { files: Object.entries(tree).map(([path, c]) => ({ path, size: c.length, sha256: sha256(c) })) },
  });
  const { missing } = (await begun.json()) as { missing: string[] };
  assert.ok(missing.length > 0 && missing.length <= 32, String(missing.length));
  assert.equal((await uploadSnapshot(client, folder)).id, idOf(tree));
});

/** A folder whose files are a minute old, on a file system that records changes. */
const memoryAt = (path: string) => new HashMemory(path, { now: () => Date.now() + 60_000, trusts: () => true });

test('a remembered content that is missing is sent, and a wrong memory is read again', async () => {
  const tree = { x: 'remembered', y: 'remembered too' };
  const folder = await folderOf(tree);
  const path = join(await bed.folder('hashes'), 'memory');
  assert.equal((await uploadSnapshot(await producer.client(), folder, { memory: memoryAt(path) })).id, idOf(tree));
  const client = await producer.client('submitter', bed.tenant());
  assert.equal((await uploadSnapshot(client, folder, { memory: memoryAt(path) })).id, idOf(tree), 'of another tenant');
  const memory = memoryAt(path);
  for (const { from, state } of walk(folder)) memory.learn(from, state, sha256('never in any file'), memory.now());
  memory.keepOnlySeen();
  assert.equal((await uploadSnapshot(client, folder, { memory: memoryAt(path) })).id, idOf(tree));
  assert.equal((await uploadSnapshot(client, folder, { memory: memoryAt(path) })).id, idOf(tree));
});

test('a store with occasional faults only costs an upload time', async () => {
  const client = await producer.client();
  const tree = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`f${i}`, `through faults ${i}`]));
  const hit = new Set<string>();
  proxy.fault = ({ path, method }) => {
    if (method !== 'PUT' || !path.includes('/cas/') || hit.has(path)) return undefined;
    hit.add(path);
    return hit.size % 2 ? { kind: 'status', status: 503 } : { kind: 'lose_answer' };
  };
  const made = await uploadSnapshot(client, await folderOf(tree));
  proxy.fault = () => undefined;
  assert.equal(made.id, idOf(tree));
  assert.equal(hit.size, 6);
});

test('bytes that do not match the digest are refused and not kept', async () => {
  const client = await producer.client();
  for (const bytes of [Buffer.from('other bytes'), Buffer.alloc(17 * 2 ** 20, 1)]) {
    const digest = sha256(`not these ${bytes.length}`);
    const begun = await client.send('POST', '/v1/uploads', {
      json: { files: [{ path: 'x', size: bytes.length, sha256: digest }] },
    });
    const { upload } = (await begun.json()) as { upload: string };
    const put = client.send('PUT', `/v1/uploads/${upload}/${digest}`, {
      body: new Uint8Array(bytes),
      headers: { 'content-type': 'application/octet-stream' },
    });
    await assert.rejects(put, (error: unknown) => error instanceof HotcellError && error.code === 'snapshot_refused');
    assert.equal(await house.store.head(house.store.record, recordKeys.cas(house.tenant, digest)), undefined);
    const finish = client.send('POST', '/v1/snapshots', {
      json: { upload, files: [{ path: 'x', size: bytes.length, sha256: digest }] },
    });
    await assert.rejects(finish, (error: unknown) => error instanceof HotcellError && error.code === 'conflict');
  }
});

test('a size that does not match the bytes is refused', async () => {
  const client = await producer.client();
  await uploadSnapshot(client, await folderOf({ x: 'five!' }));
  const files = [{ path: 'x', size: 6, sha256: sha256('five!') }];
  const begun = (await (await client.send('POST', '/v1/uploads', { json: { files } })).json()) as { upload: string };
  await assert.rejects(
    client.send('POST', '/v1/snapshots', { json: { upload: begun.upload, files } }),
    /does not have the announced 6 bytes/,
  );
});

test('exactly the absent contents of thousands are reported as missing', async () => {
  const client = await producer.client('submitter', bed.tenant());
  const there = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`there/${i}`, `there ${i}`]));
  await uploadSnapshot(client, await folderOf(there));
  const entry = (path: string, text: string) => ({ path, size: text.length, sha256: sha256(text) });
  const absent = Array.from({ length: 5000 }, (_, i) => entry(`absent/${i}`, `absent ${i}`));
  const files = [...absent, ...Object.entries(there).map(([path, text]) => entry(path, text))];
  const begun = await client.send('POST', '/v1/uploads', { json: { files } });
  const { missing } = (await begun.json()) as { missing: string[] };
  assert.deepEqual(missing.toSorted(), absent.map((file) => file.sha256).toSorted());
});

test('a tenant never learns what another has', async () => {
  const tree = { x: 'only theirs' };
  await uploadSnapshot(await producer.client(), await folderOf(tree));
  const other = bed.tenant();
  const client = await producer.client('submitter', other);
  const files = [{ path: 'x', size: 11, sha256: sha256(tree.x) }];
  const begun = (await (await client.send('POST', '/v1/uploads', { json: { files } })).json()) as { missing: string[] };
  assert.deepEqual(begun.missing, [sha256(tree.x)]);
  await assert.rejects(
    client.send('GET', `/v1/snapshots/${idOf(tree)}`),
    (error: unknown) => error instanceof HotcellError && error.code === 'not_found',
  );
});

test('a folder with names that cannot be mounted is refused, naming all of them', async () => {
  const client = await producer.client();
  const folder = await folderOf({ 'Data.csv': '1', 'data.csv': '2', 'ok.csv': '3', 'new\nline': '4' });
  symlinkSync('/etc/passwd', join(folder, 'link'));
  await assert.rejects(uploadSnapshot(client, folder), (error: unknown) => {
    assert.ok(error instanceof HotcellError);
    assert.equal(error.code, 'snapshot_refused');
    assert.deepEqual(
      error.issues.map((issue) => issue.path),
      ['Data.csv', 'data.csv', 'link', 'new\nline'],
    );
    return true;
  });
});

test('the API judges names itself, whatever the client does', async () => {
  const file = (path: string) => ({ path, size: 1, sha256: sha256('x') });
  const body = JSON.stringify({ files: ['../x', '/x', 'a//b', 'c', 'C', 'd', 'd/e', 'fine'].map(file) });
  const answer = await producer.ask('POST', '/v1/uploads', { body });
  assert.equal(answer.status, 422);
  const problem = (await answer.json()) as { code: string; errors: { path: string }[] };
  assert.equal(problem.code, 'snapshot_refused');
  assert.deepEqual(
    problem.errors.map((e) => e.path),
    ['../x', '/x', 'C', 'a//b', 'c', 'd', 'd/e'],
  );
});

test('a request cannot name a path of the server or an address of a store', async () => {
  for (const [body, status] of [
    [{ source: '/etc' }, 400],
    [{ source: './data' }, 400],
    [{ source: 's3://somebody/else' }, 403],
    [{ source: 's3://bucket/x', endpoint: 'http://evil' }, 400],
    [{ source: 'no-such-name' }, 404],
    [{ source: `sha256:${'0'.repeat(64)}` }, 404],
  ] as const) {
    const answer = await producer.ask('POST', '/v1/snapshots', { body: JSON.stringify(body) });
    assert.equal(answer.status, status, JSON.stringify(body));
  }
  const reader = await producer.key('reader');
  assert.equal((await producer.ask('POST', '/v1/uploads', { key: reader, body: '{"files":[]}' })).status, 403);
});
