import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import { floodBesideLight, longSweep } from '../support/crowds.ts';

/** What `npm run soak -- --only crowds` does at full size. */
let bed: Bed;
before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

test('a tenant that floods a worker costs a light one at most the end of one run and the time of another', async () => {
  assert.ok((await floodBesideLight(bed, { flood: 500, light: 10 })) <= 1);
});

test('a sweep that lasts many times as long as its lead keeps it, or ends when it has lost it', async () => {
  await longSweep(bed, { open: 1_000, leadMs: 300 });
});
