import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newRunId } from '@hotcell/contract/names.ts';
import { compareAll } from '@hotcell/producer/readmodel/compare-shard.ts';
import { ReadModel } from '@hotcell/producer/readmodel/read-model.ts';
import { rowAccepted } from '@hotcell/producer/readmodel/run-changes.ts';
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
  const file = join(await bed.folder('model'), 'runs.sqlite');
  await using model = await ReadModel.open(file, (error) => assert.fail(String(error)));
  const { signal } = new AbortController();
  const compare = () => compareAll({ ...house.producer, model, signal });
  // Keys sort the second tenant before the first.
  const tenants = [house.tenant, `${house.tenant}-x`];
  const accepted: { tenant: string; run: string }[] = [];
  for (let i = 0; i < 40; i++) {
    const tenant = tenants[i % 2] ?? '';
    const { run } = await house.submit('print hello', { spec: { tenant } });
    accepted.push({ tenant, run });
  }
  const rowsOf = (tenant: string) => model.list(tenant, { labels: [], limit: 100 });
  const listed = async () => (await Promise.all(tenants.map(rowsOf))).flat().map(({ run, status }) => [run, status]);
  const known = (status: string) =>
    tenants.flatMap((tenant) =>
      accepted
        .filter((one) => one.tenant === tenant)
        .map(({ run }) => [run, status])
        .toReversed(),
    );
  await compare();
  assert.deepEqual(await listed(), known('queued'));
  assert.equal((await rowsOf(house.tenant))[0]?.queue, echoQueue);
  // In the model and in no bucket, in every shard before, between and after the real ones.
  for (const tenant of ['aaa', house.tenant, 'zzz'])
    for (let i = 0; i < 20; i++)
      model.note(
        rowAccepted({ ...specFor(tenant, ''), run: newRunId(), acceptedAt: new Date().toISOString() }, echoQueue),
      );
  await compare();
  assert.deepEqual(await listed(), known('queued'));
  for (const tenant of ['aaa', 'zzz']) assert.deepEqual(await rowsOf(tenant), []);
  await house.worker('one');
  for (const { run, tenant } of accepted) if (tenant === house.tenant) await resultOf(house, run);
  await until('no open marker is left', async () => {
    await house.clearFinished();
    for await (const _ of house.store.list(house.store.work, 'open/')) return false;
    return true;
  });
  await compare();
  assert.deepEqual(await listed(), known('finished'));
});
