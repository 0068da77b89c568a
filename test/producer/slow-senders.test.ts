import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { openBed } from '../support/bed.ts';
import { openHouse } from '../support/house.ts';
import { openHttpProxy } from '../support/http-proxy.ts';
import { problemOf } from '../support/problem.ts';
import { type RunningProducer, startProducer } from '../support/producer.ts';
import { ask, jsonOf, octetsOf, type SlowClient } from '../support/slow-client.ts';
import { until } from '../support/until.ts';

const mib = 2 ** 20;
const bed = await openBed();
const proxy = await openHttpProxy(bed.installation.store.endpoint);
const house = await openHouse(bed, { endpoint: proxy.url });
/** Cuts no slow client off while a test lasts. */
const patient = await startProducer(bed, house, { HOTCELL_PATIENCE_SECONDS: '600' });
const strict = await startProducer(bed, house, {
  HOTCELL_PATIENCE_SECONDS: '1',
  HOTCELL_BODY_BYTES: String(4 * mib),
});
after(async () => {
  await patient[Symbol.asyncDispose]();
  await strict[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const requestOf = (bytes: number) =>
  JSON.stringify({ blocks: [{ language: 'bash', code: `# ${'x'.repeat(bytes)}` }], params: null });
const soon = () => AbortSignal.timeout(60_000);
const submit = (producer: RunningProducer, key: string, bytes: number) =>
  producer.ask('POST', '/v1/runs', { key, body: requestOf(bytes), signal: soon() });
const upload = async (producer: RunningProducer, key: string, bytes: Uint8Array<ArrayBuffer>) => {
  const digest = sha256(bytes);
  const body = JSON.stringify({ files: [{ path: 'x', size: bytes.length, sha256: digest }] });
  const begun = await producer.ask('POST', '/v1/uploads', { key, body, signal: soon() });
  const { upload: id } = (await begun.json()) as { upload: string };
  const headers = { 'content-type': 'application/octet-stream' };
  const path = `/v1/uploads/${id}/${digest}`;
  return { path, send: () => producer.ask('PUT', path, { key, headers, body: bytes, signal: soon() }) };
};
const all = async (asked: Promise<SlowClient>[]) => {
  const clients = await Promise.all(asked);
  return {
    clients,
    [Symbol.asyncDispose]: async () => void (await Promise.all(clients.map((one) => one[Symbol.asyncDispose]()))),
  };
};

test('clients that announce large bodies and send one byte hold up neither others nor their own small requests', async () => {
  const [theirs, other] = [await patient.key(), await patient.key('submitter', bed.tenant())];
  await using _slow = await all(
    Array.from({ length: 5 }, () =>
      ask(patient.url, 'POST /v1/runs', { key: theirs, headers: jsonOf(64 * mib), body: '{' }),
    ),
  );
  assert.equal((await submit(patient, other, 2 * mib)).status, 202);
  assert.equal((await submit(patient, theirs, 100_000)).status, 202);
  const { send } = await upload(patient, other, new Uint8Array(6 * mib));
  assert.equal((await send()).status, 204);
});

test('slow uploads without number are read for their tenant’s share only, and others upload beside them', async () => {
  const [theirs, other] = [await patient.key(), await patient.key('submitter', bed.tenant())];
  const { path } = await upload(patient, theirs, new Uint8Array(8 * mib));
  const allButOne = 'x'.repeat(8 * mib - 1);
  const slow = await all(
    Array.from({ length: 30 }, () =>
      ask(patient.url, `PUT ${path}`, { key: theirs, headers: octetsOf(8 * mib), body: allButOne }),
    ),
  );
  await using _slow = slow;
  // Half of 192 MiB. What is not read stays with its sender, since no buffer on the way holds as much.
  const read = () => slow.clients.filter(({ socket }) => socket.writableLength === 0).length;
  await until('the tenant’s share is full', async () => read() >= 12);
  const { send } = await upload(patient, other, new Uint8Array(3 * mib));
  assert.equal((await send()).status, 204);
  assert.equal((await submit(patient, other, 100_000)).status, 202);
  assert.equal(read(), 12);
});

test('a body that comes too slowly is given up with 408, and what it held is free again', async () => {
  const key = await strict.key();
  await using slow = await ask(strict.url, 'POST /v1/runs', { key, headers: jsonOf(2 * mib), body: '{' });
  assert.match(await slow.saw('"requestId"'), /^HTTP\/1\.1 408 [^]*"code":"too_slow"[^]*Send it faster/);
  await slow.all;
  assert.equal((await submit(strict, key, 1_900_000)).status, 202);
  const { path } = await upload(strict, key, new Uint8Array(mib));
  await using octets = await ask(strict.url, `PUT ${path}`, { key, headers: octetsOf(mib), body: 'x' });
  assert.match(await octets.saw('"requestId"'), /^HTTP\/1\.1 408 [^]*"code":"too_slow"/);
});

test('a tenant that holds its share gets 429 with the limit and Retry-After, and another tenant is answered', async () => {
  const [theirs, other] = [await strict.key(), await strict.key('submitter', bed.tenant())];
  // Where this test itself is held up, its slow client is cut off, and the next one holds the share.
  const refused = await until('a second body is refused', async () => {
    await using dripping = await ask(strict.url, 'POST /v1/runs', { key: theirs, headers: jsonOf(2 * mib), body: '{' });
    const drip = setInterval(() => dripping.socket.write(' '.repeat(8 * 1024)), 50);
    const [own, foreign] = await Promise.all([submit(strict, theirs, 1_900_000), submit(strict, other, 500_000)]);
    clearInterval(drip);
    assert.equal(foreign.status, 202);
    return own.status === 202 ? undefined : own;
  });
  assert.equal(refused.headers.get('retry-after'), '5');
  const problem = await problemOf(refused);
  assert.deepEqual(
    [problem.status, problem.code, problem['limit'], problem.retryable],
    [429, 'too_many', 'bodies', true],
  );
});

test('a body that announces no size is read within the same bounds', async () => {
  const key = await strict.key();
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked', connection: 'close' };
  const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  const body = [requestOf(1_500_000).slice(0, 100), requestOf(1_500_000).slice(100), ''].map(chunked).join('');
  await using whole = await ask(strict.url, 'POST /v1/runs', { key, headers, body });
  assert.match(await whole.all, /^HTTP\/1\.1 202 /);
  await using slow = await ask(strict.url, 'POST /v1/runs', { key, headers, body: chunked('{"blocks":') });
  assert.match(await slow.all, /^HTTP\/1\.1 408 /);
});

test('the time that the store takes for a request that has come is not its sender’s', async () => {
  const key = await strict.key();
  const slowed = new Set<string>();
  proxy.fault = ({ method, path }) => {
    if (method !== 'PUT' || !path.endsWith('/spec.json')) return undefined;
    slowed.add(path);
    return { kind: 'slow', ms: 3_000 };
  };
  const answer = await submit(strict, key, 1_500_000);
  proxy.fault = () => undefined;
  assert.equal(answer.status, 202);
  assert.equal(slowed.size, 1);
});

test('what is sent behind a refusal is thrown away for a while, and then the connection ends', async () => {
  const { path } = await upload(strict, await strict.key(), new Uint8Array(mib));
  const reader = await strict.key('reader');
  await using refused = await ask(strict.url, `PUT ${path}`, { key: reader, headers: octetsOf(mib), body: 'x' });
  assert.match(await refused.all, /^HTTP\/1\.1 403 /);
});
