import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heard } from '@hotcell/executor-worker/housekeeping.ts';

test('a worker that is missed counts as alive for a while, and a worker that is heard again is missed anew', () => {
  const heard = new Heard();
  heard.hear(['a']);
  assert.equal(heard.isAlive('a', 0), true);
  heard.hear([]);
  assert.equal(heard.isAlive('a', 1_000), true);
  assert.equal(heard.isAlive('a', 20_999), true);
  assert.equal(heard.isAlive('a', 21_000), false);
  heard.hear(['a']);
  heard.hear([]);
  assert.equal(heard.isAlive('a', 22_000), true);
});
