import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { ShownResult } from '@hotcell/contract/api/runs.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { StoredRoom } from '@hotcell/record/stored-room.ts';
import { z } from 'zod';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { type House, openHouse } from '../support/house.ts';
import { problemOf } from '../support/problem.ts';
import { type RunningProducer, startProducer } from '../support/producer.ts';
import { until } from '../support/until.ts';

/** The quota of stored bytes: uploads, outputs, and a count that is right again after it was lost. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let operator: string;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  operator = await producer.key('admin', 'default');
  await house.worker('one', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
});
after(async () => {
  await producer[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const mib = 2 ** 20;

const Shown = z.object({ quotas: z.object({ storedBytes: z.object({ used: z.number().nullable() }) }) });

async function used(tenant: string): Promise<number | null> {
  const answer = await producer.ask('GET', `/v1/quotas/${tenant}`, { key: operator });
  return Shown.parse(await answer.json()).quotas.storedBytes.used;
}

const isMeasured = (tenant: string, bytes: number) =>
  until(`${tenant} has ${bytes} bytes`, async (note) => note(await used(tenant)) === bytes);

async function bounded(most: number): Promise<{ tenant: string; key: string }> {
  const tenant = bed.tenant();
  const key = await producer.key('submitter', tenant);
  const body = JSON.stringify({ storedBytes: most });
  assert.equal((await producer.ask('PUT', `/v1/quotas/${tenant}`, { key: operator, body })).status, 200);
  await isMeasured(tenant, 0);
  return { tenant, key };
}

/** One file with these bytes; the client may say less about them first. */
async function upload(key: string, bytes: Buffer<ArrayBuffer>, announced = bytes.length): Promise<Response> {
  const digest = sha256(bytes);
  const files = [{ path: 'f', size: announced, sha256: digest }];
  const begun = await producer.ask('POST', '/v1/uploads', { key, body: JSON.stringify({ files }) });
  if (begun.status !== 201) return begun;
  const { upload: id } = z.object({ upload: z.string() }).parse(await begun.json());
  const headers = { 'content-type': 'application/octet-stream' };
  return await producer.ask('PUT', `/v1/uploads/${id}/${digest}`, { key, headers, body: bytes });
}

const filled = (size: number, with_: number) => Buffer.alloc(size, with_);

test('uploads beyond a tenant’s quota of stored bytes are refused, whatever was announced, and the same bytes count once', async () => {
  const { tenant, key } = await bounded(30 * mib);
  for (let again = 0; again < 2; again++) {
    assert.equal((await upload(key, filled(12 * mib, 1))).status, 204);
    assert.equal((await upload(key, filled(mib, 2))).status, 204);
  }
  assert.equal(await used(tenant), 13 * mib);
  const early = await upload(key, filled(18 * mib, 3));
  assert.equal(early.headers.get('retry-after'), '60');
  const { status, detail, quota, limit, used: then } = await problemOf(early);
  assert.deepEqual([status, quota, limit, then], [429, 'storedBytes', 30 * mib, 13 * mib]);
  assert.match(detail, /no room for 18 MiB more in its quota storedBytes: it uses 13 MiB of 30 MiB\. .*gc/);
  // Announced as small, sent as large.
  assert.deepEqual((await problemOf(await upload(key, filled(18 * mib, 3), 1)))['quota'], 'storedBytes');
  await isMeasured(tenant, 13 * mib);
  assert.equal((await upload(key, filled(17 * mib, 4))).status, 204, 'what fits is taken');
  assert.equal((await upload(key, filled(1, 5))).status, 429);
  assert.equal((await upload(await producer.key('submitter', bed.tenant()), filled(mib, 2))).status, 204);
});

test('a count that was lost is measured again from the record', async () => {
  const { tenant, key } = await bounded(30 * mib);
  for (const size of [12 * mib, 3, mib]) await upload(key, filled(size, 6));
  assert.equal(await used(tenant), 13 * mib + 3);
  await house.emptyValkey();
  await isMeasured(tenant, 13 * mib + 3);
  await house.store.delete(house.store.record, recordKeys.cas(tenant, sha256(filled(mib, 6))));
  await house.producer.live.stored.measureAgain();
  await isMeasured(tenant, 12 * mib + 3);
});

test('bytes that were taken before a measurement began are not subtracted from its figure', async () => {
  const { tenant } = await bounded(30 * mib);
  const { stored } = house.producer.live;
  const early = await stored.take(tenant, 5 * mib);
  await stored.beginMeasuring(tenant);
  const meanwhile = await stored.take(tenant, 2 * mib);
  await stored.measured(tenant, mib);
  await stored.giveBack(tenant, 5 * mib, early.measurement);
  assert.equal(await used(tenant), 3 * mib);
  await stored.giveBack(tenant, 2 * mib, meanwhile.measurement);
  assert.equal(await used(tenant), mib);
});

test('work that begins before its tenant is measured is bounded once the tenant is', async () => {
  const { tenant } = await bounded(30 * mib);
  const { stored } = house.producer.live;
  await stored.keepOnly(new Set());
  const room = new StoredRoom(stored, tenant);
  await room.take(mib);
  await until(`${tenant} is measured`, async (note) => note(await used(tenant)) !== null);
  await assert.rejects(room.take(40 * mib), { code: 'quota_exceeded' });
});

test('a run whose outputs its tenant has no room for keeps those that fit, and its result says which quota, use and limit', async () => {
  const { tenant, key } = await bounded(30 * mib);
  const ended = async (code: string) => {
    const body = JSON.stringify({ blocks: [{ language: 'bash', code }] });
    const answer = await producer.ask('POST', '/v1/runs', { key, body, headers: { prefer: 'wait=120' } });
    return ShownResult.parse(await answer.json());
  };
  const fits = await ended(`big ${10 * mib}`);
  assert.equal(fits.outcome, 'succeeded');
  assert.equal(await used(tenant), 10 * mib);
  await ended(`big ${10 * mib}`);
  assert.equal(await used(tenant), 10 * mib, 'the same bytes count once');
  const tooMuch = await ended(`big ${21 * mib}\noutput small`);
  assert.deepEqual([tooMuch.outcome, tooMuch.exitCode], ['output_exceeded', 0]);
  assert.match(tooMuch.reason, /no room for 21 MiB more in its quota storedBytes: it uses 10 MiB of 30 MiB/);
  assert.match(tooMuch.reason, /kept \d+ bytes in 1 file, refused 1/);
  assert.equal(tooMuch.outputs.files.length, 1);
  assert.match(tooMuch.outputs.refused[0]?.reason ?? '', /quota storedBytes/);
  const small = tooMuch.outputs.files[0]?.size ?? 0;
  assert.equal(await used(tenant), 10 * mib + small);
  assert.equal((await ended('print no outputs')).outcome, 'succeeded', 'a run without outputs needs no room');
});
