import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newRunId } from '@hotcell/contract/names.ts';
import { readResult } from '@hotcell/record/commit.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { type House, openHouse } from '../support/house.ts';
import { resultOf, settled } from '../support/promise.ts';

let bed: Bed;
let house: House;
before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  await house.worker('one');
});
after(async () => {
  await house?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

test('a result in the place of another run, or of the same run under another tenant, is damage', async () => {
  const { store, tenant } = house;
  const { run } = await house.submit('print hello');
  const result = await resultOf(house, run);
  await settled(house, [run]);
  assert.deepEqual(await readResult(store, tenant, run), result);
  const [otherRun, otherTenant] = [newRunId(), bed.tenant()];
  for (const [atTenant, atRun] of [
    [tenant, otherRun],
    [otherTenant, run],
  ] as const) {
    await store.put(store.record, recordKeys.result(atTenant, atRun), JSON.stringify(result));
    await assert.rejects(readResult(store, atTenant, atRun), { code: 'record_damaged' });
  }
});
