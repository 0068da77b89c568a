import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newRunId } from '@hotcell/contract/names.ts';
import { compareAll } from '@hotcell/producer/readmodel/fill.ts';
import { ReadModel } from '@hotcell/producer/readmodel/read-model.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoQueue } from '../support/echo.ts';
import { type House, openHouse } from '../support/house.ts';
import { specFor } from '../support/spec.ts';
import { resultOf } from '../support/promise.ts';
import { until } from '../support/until.ts';

let bed: Bed;
let house: House;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
});
after(async () => {
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

test('comparing the read model with the buckets adds missed runs, finishes ended ones and removes unknown ones', async () => {
  using model = ReadModel.open(join(await bed.folder('model'), 'runs.sqlite'));
  const { signal } = new AbortController();
  const compare = () => compareAll({ store: house.producer.store, model, signal });
  // Keys sort the second tenant before the first.
  const tenants = [house.tenant, `${house.tenant}-x`];
  const accepted: { tenant: string; run: string }[] = [];
  for (let i = 0; i < 40; i++) {
    const tenant = tenants[i % 2] ?? '';
    const { run } = await house.submit('print hello', { spec: { tenant } });
    accepted.push({ tenant, run });
  }
  const listed = () =>
    tenants.flatMap((tenant) => model.list(tenant, { labels: [], limit: 100 })).map(({ run, status }) => [run, status]);
  const known = (status: string) =>
    tenants.flatMap((tenant) =>
      accepted
        .filter((one) => one.tenant === tenant)
        .map(({ run }) => [run, status])
        .toReversed(),
    );
  await compare();
  assert.deepEqual(listed(), known('queued'));
  assert.equal(model.list(house.tenant, { labels: [], limit: 1 })[0]?.queue, echoQueue);
  // In the model and in no bucket, in every shard before, between and after the real ones.
  for (const tenant of ['aaa', house.tenant, 'zzz'])
    for (let i = 0; i < 20; i++)
      model.accepted({ ...specFor(tenant, ''), run: newRunId(), acceptedAt: new Date().toISOString() }, echoQueue);
  await compare();
  assert.deepEqual(listed(), known('queued'));
  for (const tenant of ['aaa', 'zzz']) assert.deepEqual(model.list(tenant, { labels: [], limit: 1 }), []);
  await house.worker('one');
  for (const { run, tenant } of accepted) if (tenant === house.tenant) await resultOf(house, run);
  await until('no open marker is left', async () => {
    await house.sequence();
    for await (const _ of house.store.list(house.store.work, 'open/')) return false;
    return true;
  });
  await compare();
  assert.deepEqual(listed(), known('finished'));
});
