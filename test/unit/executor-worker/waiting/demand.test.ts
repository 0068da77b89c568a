import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Demand, noDemand, noteArrival, usesOf } from '@hotcell/executor-worker/waiting/demand.ts';

const times = { windowMs: 200, keepMs: 300_000 };
const after = (arrivals: readonly number[]): Demand =>
  arrivals.reduce((demand, at) => noteArrival(demand, at, times), noDemand);
const uses = (arrivals: readonly number[], now: number) => usesOf(after(arrivals), now, times);
const day = 86_400_000;

describe('a class', () => {
  test('that no run asked for has no use for a cell', () => {
    assert.deepEqual(uses([], 0), []);
  });
  test('has a use for one after its first run, until it was quiet for long', () => {
    assert.deepEqual(uses([1_000], 1_001), [1]);
    assert.deepEqual(uses([1_000], 301_000), [1]);
    assert.deepEqual(uses([1_000], 301_001), []);
  });
  test('has a use for as many as came at once, not as many as came', () => {
    assert.deepEqual(uses([0, 1_000, 2_000, 3_000], 4_000), [4]);
    assert.deepEqual(uses([0, 10, 20, 5_000, 6_000], 7_000), [3, 1, 1]);
    assert.deepEqual(uses([0, 199, 398], 400), [1, 2]);
  });
  test('that runs at a fixed hour is expected there, and for a short time after', () => {
    const nights = [0, 10, day, day + 10, 2 * day + 4_000, 2 * day + 4_010];
    assert.deepEqual(uses(nights, 2.5 * day), []);
    const next = 3 * day + 8_000;
    assert.deepEqual(uses(nights, next - 30_001), []);
    assert.deepEqual(uses(nights, next - 30_000), [1, 1]);
    assert.deepEqual(uses(nights, next + 30_000), [1, 1]);
    assert.deepEqual(uses(nights, next + 30_001), []);
  });
  test('that is expected stays so when the first of its runs has come', () => {
    const next = 3 * day;
    const nights = [0, 10, day, day + 10, 2 * day, 2 * day + 10, next];
    assert.deepEqual(uses(nights, next + 1), [1, 1]);
  });
  test('that comes at odd times is not expected', () => {
    assert.deepEqual(uses([0, day, 1.5 * day], 2 * day), []);
  });
  test('is remembered in bounded memory', () => {
    const demand = after(Array.from({ length: 10_000 }, (_, i) => i * 400_000));
    assert.ok(demand.arrivals.length <= 64 && demand.bursts.length <= 4);
  });
});
