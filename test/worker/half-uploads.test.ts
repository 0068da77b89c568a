import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { recordKeys, workKeys } from '@hotcell/record/layout.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { HalfUploads } from '@hotcell/executor-worker/half-uploads.ts';
import { Live } from '@hotcell/outside/live/live.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { until } from '../support/until.ts';

let bed: Bed;
let store: Buckets;
let live: Live;
before(async () => {
  bed = await openBed();
  store = bed.store('worker');
  live = await Live.open({ url: bed.installation.redisUrl, installation: bed.id() });
});
after(async () => {
  await live?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

const partBytes = 5 * 1024 * 1024;

/** An upload that hangs between two parts, as a killed process leaves it. */
async function begin(bucket: string, key: string) {
  const hold = Promise.withResolvers<void>();
  const chunks = async function* () {
    for (let part = 0; part < 3; part++) yield Buffer.alloc(partBytes);
    await hold.promise;
  };
  const ended = store.upload(bucket, key, chunks()).then(
    () => 'whole',
    () => 'broken off',
  );
  await until(`${key} is half uploaded`, async () => isHalf(bucket, key));
  return async () => {
    hold.resolve();
    return await ended;
  };
}
const isHalf = async (bucket: string, key: string) =>
  (await store.halfUploads(bucket)).some((upload) => upload.key === key);

test('uploads of dead attempts are removed; those of living attempts, and other uploads, stay', async () => {
  const tenant = bed.tenant();
  const [dead, alive, next] = [newRunId(), newRunId(), newRunId()];
  const beat = { tenant, status: 'running', worker: 'w', nonce: 'n', since: new Date().toISOString() } as const;
  const logKey = recordKeys.log(tenant, dead, { attempt: 1, claim: randomUUID() });
  const log = await begin(store.record, logKey);
  const output = await begin(store.work, workKeys.outputUpload(tenant, dead, 1, 'a'));
  const mine = await begin(store.work, workKeys.outputUpload(tenant, alive, 2, 'a'));
  const older = await begin(store.work, workKeys.outputUpload(tenant, next, 1, 'a'));
  const whole = workKeys.outputUpload(tenant, dead, 1, 'b');
  const foreign = `${workKeys.uploads}${tenant}/by-no-attempt`;
  for (const key of [whole, foreign]) await store.put(store.work, key, 'x');
  const uploads = new HalfUploads(store, live);
  const sweep = async () => {
    // A worker's heartbeat does this every second.
    await live.beat([
      { ...beat, run: alive, attempt: 2 },
      { ...beat, run: next, attempt: 2 },
    ]);
    await uploads.sweep();
  };

  await sweep();
  assert.ok(await isHalf(store.record, logKey), 'no attempt is suspected without a reason');
  uploads.suspect();
  await sweep();
  assert.ok(await isHalf(store.record, logKey), 'an attempt that misses one look may still live');
  await sweep();

  assert.equal(await isHalf(store.record, logKey), false);
  assert.equal(await isHalf(store.work, workKeys.outputUpload(tenant, dead, 1, 'a')), false);
  assert.equal(await isHalf(store.work, workKeys.outputUpload(tenant, next, 1, 'a')), false, 'another attempt lives');
  assert.equal(await store.head(store.work, whole), undefined);
  assert.ok(await store.head(store.work, foreign));
  assert.equal(await mine(), 'whole');
  assert.deepEqual(await Promise.all([log(), output(), older()]), Array(3).fill('broken off'));
  await bed.store('operator').deleteMany(store.work, [foreign, workKeys.outputUpload(tenant, alive, 2, 'a')]);
});
