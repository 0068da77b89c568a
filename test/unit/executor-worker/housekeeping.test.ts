import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkerRoll } from '@hotcell/executor-worker/housekeeping.ts';

test('a missing worker counts as alive for a while; one that comes back gets the same while again', () => {
  const heard = new WorkerRoll();
  heard.hear(['a']);
  assert.equal(heard.isAlive('a', false, 0), true);
  heard.hear([]);
  assert.equal(heard.isAlive('a', false, 1_000), true);
  assert.equal(heard.isAlive('a', false, 8_999), true);
  assert.equal(heard.isAlive('a', false, 9_000), false);
  heard.hear(['a']);
  heard.hear([]);
  assert.equal(heard.isAlive('a', false, 10_000), true);
});

test('a cell that has ended is kept for a shorter while', () => {
  const heard = new WorkerRoll();
  assert.equal(heard.isAlive('a', true, 1_000), true);
  assert.equal(heard.isAlive('a', true, 5_000), false);
  assert.equal(heard.isAlive('a', false, 5_000), true);
});

test('it reports when a worker goes missing, once', () => {
  const heard = new WorkerRoll();
  assert.equal(heard.hear(['a', 'b']), false);
  assert.equal(heard.hear(['b', 'a', 'c']), false);
  assert.equal(heard.hear(['a', 'c']), true);
  assert.equal(heard.hear(['a', 'c']), false);
});
