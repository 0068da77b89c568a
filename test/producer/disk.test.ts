import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { newRunId } from '@hotcell/contract/names.ts';
import { keepSample, measureBuckets } from '@hotcell/record/disk-samples.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { z } from 'zod';
import { openBed } from '../support/bed.ts';
import { openHouse } from '../support/house.ts';
import { startProducer } from '../support/producer.ts';

const Disk = z.object({
  measuredAt: z.string().nullable(),
  kinds: z.array(z.object({ kind: z.string(), bytes: z.number() })),
  valkey: z.object({ memoryBytes: z.number() }).nullable(),
});

const bed = await openBed();
const house = await openHouse(bed);
const producer = await startProducer(bed, house);
after(async () => {
  await producer[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const asked = async (key: string) => await producer.ask('GET', '/v1/disk', { key });

test('what takes room is measured by kind, and the operator is shown it', async () => {
  const { store, tenant } = house;
  const place = { attempt: 1, claim: randomUUID() };
  await store.put(store.record, recordKeys.log(tenant, newRunId(), place), Buffer.alloc(50_000));
  let pages = 0;
  const sample = await measureBuckets(store, async () => {
    pages += 1;
  });
  const logs = sample.kinds.find(({ kind }) => kind === 'logs');
  assert.ok(logs && logs.bytes >= 50_000 && logs.objects >= 1, JSON.stringify(sample));
  const objects = sample.kinds.reduce((sum, kind) => sum + kind.objects, 0);
  assert.ok(pages >= Math.floor(objects / 200) - 1, `${pages} pauses for ${objects} objects`);
  await keepSample(store, sample);

  const disk = Disk.parse(await (await asked(await producer.key('admin', 'default'))).json());
  assert.notEqual(disk.measuredAt, null);
  assert.ok(disk.kinds.some(({ kind, bytes }) => kind === 'logs' && bytes > 0));
  assert.ok(disk.valkey && disk.valkey.memoryBytes > 0);
});

test('a tenant is not shown what others take', async () => {
  assert.equal((await asked(await producer.key('admin'))).status, 403);
});
