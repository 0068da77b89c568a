import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pace } from '@hotcell/producer/bounds/pace.ts';

const pace = () => new Pace({ bytesPerSecond: 1_000, patienceMs: 10_000 });

test('the other side may pause for as long as we are patient', () => {
  const one = pace();
  one.moved(0, 9_999);
  assert.equal(one.leftMs(), 1);
  one.moved(0, 1);
  assert.equal(one.leftMs(), 0);
});

test('drips are too slow in the end, and bytes at the speed that is asked for never are', () => {
  const dripping = pace();
  for (let second = 0; second < 11; second++) dripping.moved(1, 1_000);
  assert.ok(dripping.leftMs() < 0);
  const slow = pace();
  for (let second = 0; second < 10_000; second++) slow.moved(1_000, 1_000);
  assert.equal(slow.leftMs(), 10_000);
});

test('quick bytes make up for a pause, but not for one that is still to come', () => {
  const one = pace();
  one.moved(0, 9_000);
  one.moved(4_000, 0);
  assert.equal(one.leftMs(), 5_000);
  one.moved(1_000_000, 0);
  assert.equal(one.leftMs(), 10_000);
});

test('bytes that are on their way have the time that they may take', () => {
  assert.equal(pace().leftMs(5_000), 15_000);
  const one = pace();
  one.moved(0, 9_000);
  one.raiseTo(10_000);
  assert.equal(one.leftMs(5_000), 1_500);
});
