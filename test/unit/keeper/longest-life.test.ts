import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadlineOf, lifetimeMs } from '@hotcell/executor-worker/cell/cell-times.ts';
import { longestLifeMs } from '@hotcell/keeper/longest-life.ts';
import { testLimits } from '../../support/limits.ts';

for (const gib of [0, 1, 8, 64])
  test(`the keeper lets a cell with ${gib} GiB of outputs live as long as its worker does`, () => {
    const limits = { ...testLimits, outputBytes: gib * 1024 ** 3 };
    assert.ok(longestLifeMs(limits) >= deadlineOf(limits, new Date(0)).getTime());
  });

test('a million small outputs have the time that their requests to the store take', () => {
  const limits = { ...testLimits, outputBytes: 64 * 1024 ** 2 };
  const more = { ...limits, outputFiles: 1_000_000 };
  const atOnce = 16;
  const requestMs = 50;
  assert.ok(lifetimeMs(more) - lifetimeMs({ ...limits, outputFiles: 0 }) >= (1_000_000 / atOnce) * requestMs);
  assert.ok(longestLifeMs(more) >= deadlineOf(more, new Date(0)).getTime());
});
