import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { test } from 'node:test';
import { Pace } from '@hotcell/producer/bounds/pace.ts';
import { inWhole, paced } from '@hotcell/producer/api/receive-body.ts';

const pace = (patienceMs: number) => new Pace({ bytesPerSecond: 1_000, patienceMs });
const chunk = (bytes: number) => Buffer.alloc(bytes, 7);

test('a sender that falls silent is told, and the connection is not destroyed before', async () => {
  const body = new PassThrough();
  body.write(chunk(3));
  const received: Buffer[] = [];
  await assert.rejects(
    async () => {
      for await (const one of paced(body, pace(20))) received.push(one);
    },
    { code: 'too_slow' },
  );
  assert.deepEqual(Buffer.concat(received), chunk(3));
  assert.equal(body.destroyed, false);
});

test('the time that we take for a chunk does not count', async () => {
  const one = pace(60_000);
  let now = 0;
  const body = Readable.from([chunk(1), chunk(1), chunk(1)]);
  for await (const _ of paced(body, one, () => now)) now += 1_000_000;
  assert.equal(one.leftMs(), 60_000);
});

test('a connection that breaks is an error of the request', async () => {
  const body = new PassThrough();
  const all = Array.fromAsync(paced(body, pace(60_000)));
  body.destroy(new Error('reset'));
  await assert.rejects(all, { code: 'invalid', message: /connection broke/ });
});

test('a body that announced nothing asks for the most before it grows past its first bytes', async () => {
  let asked = 0;
  const grow = async () => void asked++;
  const read = (chunks: Buffer[]) => inWhole(Readable.from(chunks), { room: 10, limit: 100, grow });
  assert.equal(Buffer.concat(await read([chunk(4), chunk(6)])).length, 10);
  assert.equal(asked, 0);
  assert.equal(Buffer.concat(await read([chunk(4), chunk(7), chunk(9)])).length, 20);
  assert.equal(asked, 1);
  const refuse = async () => Promise.reject(new Error('no room'));
  await assert.rejects(inWhole(Readable.from([chunk(11)]), { room: 10, limit: 100, grow: refuse }), /no room/);
  const sixteen = chunk(16 * 2 ** 20);
  await assert.rejects(read([sixteen, sixteen, sixteen, sixteen, chunk(1)]), { code: 'too_large' });
});
