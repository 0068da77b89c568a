import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { digestOf } from '@hotcell/contract/digest.ts';
import { forgetOldKeys } from '@hotcell/record/forget-keys.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { accept } from '@hotcell/producer/accept.ts';
import { waitingOf } from '@hotcell/producer/waiting.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoQueue } from '../support/echo.ts';
import { openHouse } from '../support/house.ts';
import { specFor } from '../support/spec.ts';
import { openHttpProxy } from '../support/http-proxy.ts';
import { placeOf } from '../support/place.ts';
import { keysOf, resultOf, settled } from '../support/promise.ts';
import { until } from '../support/until.ts';

let bed: Bed;

before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

test('one idempotency key is one run, even for concurrent requests; another body is refused', async () => {
  await using house = await openHouse(bed);
  const asked = Array.from({ length: 8 }, () => house.submit('print hello', { key: 'k' }));
  const runs = new Set((await Promise.all(asked)).map(({ run }) => run));
  assert.equal(runs.size, 1);
  await assert.rejects(house.submit('print other', { key: 'k' }), { code: 'idempotency_mismatch' });
  const other = bed.tenant();
  const idempotency = { key: 'k', body: digestOf('print hello') };
  const theirs = await accept(house.producer, { spec: specFor(other, 'print hello'), queue: echoQueue, idempotency });
  assert.ok(!runs.has(theirs.run));
});

test('the notary forgets an idempotency key after a week, with its own rights', async () => {
  await using house = await openHouse(bed);
  const first = await house.submit('print hello', { key: 'k' });
  const env = await house.settings('notary');
  using notary = new Buckets({
    endpoint: env['HOTCELL_S3_ENDPOINT'] ?? '',
    region: env['HOTCELL_S3_REGION'] ?? '',
    accessKey: env['HOTCELL_S3_ACCESS_KEY'] ?? '',
    secretKey: env['HOTCELL_S3_SECRET_KEY'] ?? '',
    record: house.store.record,
    work: house.store.work,
  });
  const { signal } = new AbortController();
  const inDays = (days: number) => new Date(Date.now() + days * 24 * 3600_000);
  await forgetOldKeys(notary, inDays(6.9), signal);
  assert.equal((await house.submit('print hello', { key: 'k' })).run, first.run);
  await forgetOldKeys(notary, inDays(7.1), signal);
  assert.deepEqual(await keysOf(house.store, house.store.work, 'idempotency/'), []);
  assert.notEqual((await house.submit('print hello', { key: 'k' })).run, first.run);
});

test('a full queue says when to retry, and a key that was accepted still answers', async () => {
  await using house = await openHouse(bed, { mostQueued: 2 });
  const first = await house.submit('print 1', { key: 'k' });
  await house.submit('print 2');
  await until('the producer sees that the queue is full', () =>
    house.submit('print 3').then(
      () => false,
      (error: { code?: string; extra?: object }) => {
        assert.deepEqual([error.code, error.extra], ['queue_full', { retryAfterSeconds: 5 }]);
        return true;
      },
    ),
  );
  assert.equal((await house.submit('print 1', { key: 'k' })).run, first.run);
});

test('a tenant with many queued runs does not hold up a tenant with two', async () => {
  await using house = await openHouse(bed);
  for (let i = 0; i < 20; i++) await house.submit(`print ${i}`);
  const small = [];
  for (let i = 0; i < 2; i++) small.push(await house.submit('print', { spec: { tenant: 'small' } }));
  const places = await Promise.all(small.map(({ run }) => placeOf(house, run)));
  assert.deepEqual(places, [
    { at: 'waiting', before: 1 },
    { at: 'waiting', before: 3 },
  ]);
  const urgent = await house.submit('print', { spec: { priority: 9 } });
  assert.deepEqual(await placeOf(house, urgent.run), { at: 'waiting', before: 0 });
});

test('a waiting run says why it waits and how many are ahead', async () => {
  await using house = await openHouse(bed);
  const { producer } = house;
  await house.submit('hold');
  const second = await house.submit('hold');
  const ask = ({ run }: { run: string }) => waitingOf(producer, { run, tenant: house.tenant, queue: echoQueue });
  assert.deepEqual({ ...(await ask(second)), message: '' }, { code: 'no_worker', message: '', position: 1 });
  const notBefore = new Date(Date.now() + 1_800_000).toISOString();
  const later = await house.submit('hold', { spec: { notBefore } });
  const waits = await ask(later);
  assert.equal(waits.code, 'later');
  assert.ok(waits.message.includes(notBefore), waits.message);
  const big = await house.submit('print', { spec: { limits: { memoryBytes: 2 ** 40 } } });
  await house.worker('one');
  await until('the run that is too big says so', async (note) => note(await ask(big)).code === 'too_big');
  await producer.queues.of(echoQueue).remove(later.run);
  assert.equal((await ask(later)).code, 'recovering');
});

test('a short run costs at most nine requests to the store, its evidence among them', async () => {
  await using proxy = await openHttpProxy(bed.installation.store.endpoint);
  await using house = await openHouse(bed, { endpoint: proxy.url });
  await house.worker('one');
  const finished = async () => {
    const { run } = await house.submit('print hello');
    await resultOf(house, run);
    await until('the run’s ticket is gone', async () => (await placeOf(house, run)).at === 'missing');
    return run;
  };
  // The first one of its kind records the form of its posture, too.
  const first = await finished();
  const before = proxy.seen.length;
  const run = await finished();
  const seen = proxy.seen.slice(before).map(({ method, path }) => `${method} ${path.split('/').slice(2).join('/')}`);
  const short = seen.map((request) => request.replaceAll(run, 'RUN').replace(/.*RUN\/1\//, 'PUT 1/'));
  assert.ok(seen.length <= 9, `${seen.length} requests: ${short.join(', ')}`);
  assert.equal(seen.filter((request) => /^PUT .*\/result\.json$/.test(request)).length, 1);
  await settled(house, [first, run]);
});
