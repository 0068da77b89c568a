import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Demand, noDemand, noteArrival, wanted } from '@hotcell/executor-worker/waiting/demand.ts';

const times = { windowMs: 200, keepMs: 300_000 };
const after = (arrivals: readonly number[]): Demand =>
  arrivals.reduce((demand, at) => noteArrival(demand, at, times), noDemand);
const day = 86_400_000;

describe('a class', () => {
  test('that no run asked for wants nothing', () => {
    assert.equal(wanted(noDemand, 0, times), 0);
  });
  test('wants a cell after its first run, until it was quiet for long', () => {
    const demand = after([1_000]);
    assert.equal(wanted(demand, 1_001, times), 1);
    assert.equal(wanted(demand, 301_000, times), 1);
    assert.equal(wanted(demand, 301_001, times), 0);
  });
  test('wants as many as came at once, not as many as came', () => {
    assert.equal(wanted(after([0, 1_000, 2_000, 3_000]), 4_000, times), 1);
    assert.equal(wanted(after([0, 10, 20, 5_000, 6_000]), 7_000, times), 3);
    assert.equal(wanted(after([0, 199, 398]), 400, times), 2);
  });
  test('that runs at a fixed hour is expected there, and for a short time after', () => {
    const night = after([0, 10, day, day + 10, 2 * day + 4_000, 2 * day + 4_010]);
    assert.equal(wanted(night, 2.5 * day, times), 0);
    const next = 3 * day + 8_000;
    assert.equal(wanted(night, next - 30_001, times), 0);
    assert.equal(wanted(night, next - 30_000, times), 2);
    assert.equal(wanted(night, next + 30_000, times), 2);
    assert.equal(wanted(night, next + 30_001, times), 0);
  });
  test('that comes at odd times is not expected', () => {
    const demand = after([0, day, 1.5 * day]);
    assert.equal(wanted(demand, 2 * day, times), 0);
  });
  test('is remembered in bounded memory', () => {
    const demand = after(Array.from({ length: 10_000 }, (_, i) => i * 400_000));
    assert.ok(demand.arrivals.length <= 64 && demand.bursts.length <= 4);
  });
});
