import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadlineOf } from '@hotcell/executor-worker/cell/cell-times.ts';
import { longestLifeMs } from '@hotcell/keeper/longest-life.ts';
import { testLimits } from '../../support/limits.ts';

for (const gib of [0, 1, 8, 64])
  test(`the keeper lets a cell with ${gib} GiB of outputs live as long as its worker does`, () => {
    const limits = { ...testLimits, outputBytes: gib * 1024 ** 3 };
    assert.ok(longestLifeMs(limits) >= deadlineOf(limits, new Date(0)).getTime());
  });
