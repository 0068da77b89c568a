import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBed } from '../support/bed.ts';
import { mixedLoad } from '../support/mixed-load.ts';

const seed = 20260101;

test(`under a mixed load and one trouble after the other every promise is kept (seed ${seed})`, async () => {
  await using bed = await openBed();
  const accepted = await mixedLoad(bed, seed, (step) => step < 8);
  assert.ok(accepted > 8 * 3, `${accepted} were accepted`);
});
