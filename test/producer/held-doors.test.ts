import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { z } from 'zod';
import { openBed } from '../support/bed.ts';
import { openHouse } from '../support/house.ts';
import { problemOf } from '../support/problem.ts';
import { startProducer } from '../support/producer.ts';
import { ask } from '../support/slow-client.ts';
import { until } from '../support/until.ts';

/** Clients that hold a door open: connections that show no key, and large answers that are not read. */
const bed = await openBed();
const house = await openHouse(bed);
const mib = 2 ** 20;
const producer = await startProducer(bed, house, {
  HOTCELL_PATIENCE_SECONDS: '600',
  HOTCELL_BODY_BYTES: String(96 * mib),
});
after(async () => {
  await producer[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

async function bare(): Promise<Socket> {
  const { hostname, port } = new URL(producer.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

test('connections that show no key are bounded, the oldest go first, and a client with a key is answered', async () => {
  const known = await ask(producer.url, 'GET /v1/runs', { key: await producer.key() });
  await known.saw('"runs"');
  const sockets: Socket[] = [];
  try {
    const silent = await bare();
    sockets.push(silent);
    for (let n = 0; n < 1_200; n++) sockets.push(await bare());
    await until(
      'the oldest are cut off',
      async (note) => note(sockets.filter(({ closed }) => !closed).length) <= 1_000,
    );
    assert.equal(silent.closed, true);
    assert.equal(sockets.at(-1)?.closed, false);
    assert.equal((await producer.ask('GET', '/v1/runs', { signal: AbortSignal.timeout(60_000) })).status, 200);
    assert.equal(known.socket.closed, false, 'a client that showed its key stays, however long it says nothing');
  } finally {
    for (const socket of sockets) socket.destroy();
    await known[Symbol.asyncDispose]();
  }
});

/** A snapshot whose list of files is larger than the buffers of a connection. */
async function largeSnapshot(key: string): Promise<string> {
  const Upload = z.object({ upload: z.string() });
  const long = 'x'.repeat(240);
  const digest = sha256('x');
  const files = Array.from({ length: 20_000 }, (_, i) => ({
    path: `${long}/${long}/${long}/${i}`,
    size: 1,
    sha256: digest,
  }));
  const small = JSON.stringify({ files: files.slice(0, 1) });
  const { upload } = Upload.parse(await (await producer.ask('POST', '/v1/uploads', { key, body: small })).json());
  const headers = { 'content-type': 'application/octet-stream' };
  await producer.ask('PUT', `/v1/uploads/${upload}/${digest}`, { key, headers, body: 'x' });
  const made = await producer.ask('POST', '/v1/snapshots', { key, body: JSON.stringify({ upload, files }) });
  assert.equal(made.status, 201);
  return z.object({ id: z.string() }).parse(await made.json()).id;
}

test('large answers that are not read are held for a tenant’s share only, and others get theirs', async () => {
  const [theirs, other] = [await producer.key(), await producer.key('submitter', bed.tenant())];
  const [large, otherLarge] = [await largeSnapshot(theirs), await largeSnapshot(other)];
  await using stack = new AsyncDisposableStack();
  // Of 48 MiB for all, this tenant's share has room for one of them.
  const slow = stack.use(await ask(producer.url, `GET /v1/snapshots/${large}`, { key: theirs }));
  await slow.saw('200 OK');
  slow.socket.pause();
  const refused = await producer.ask('GET', `/v1/snapshots/${large}`, { key: theirs });
  const { status, code, limit } = await problemOf(refused);
  assert.deepEqual([status, code, limit], [429, 'too_many', 'answers']);
  assert.equal(refused.headers.get('retry-after'), '5');
  const answered = await producer.ask('GET', `/v1/snapshots/${otherLarge}`, { key: other });
  assert.equal(answered.status, 200);
  assert.ok((await answered.bytes()).length > 10 * mib);
  assert.equal((await producer.ask('GET', '/v1/runs', { key: theirs })).status, 200, 'small answers need no room');
  await stack.disposeAsync();
  await until('there is room again', async () => {
    const again = await producer.ask('GET', `/v1/snapshots/${large}`, { key: theirs });
    await again.bytes();
    return again.status === 200;
  });
});
