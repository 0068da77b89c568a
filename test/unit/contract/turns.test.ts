import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roundOf, turnPriority } from '@hotcell/contract/turns.ts';

test('a round comes before the next whatever was asked for, and within one more urgent comes first', () => {
  for (let round = 0; round < 50; round++) {
    for (let asked = 0; asked <= 9; asked++) {
      const priority = turnPriority(round, asked);
      assert.ok(priority >= 1);
      assert.equal(roundOf(priority), round);
      if (asked > 0) assert.ok(priority < turnPriority(round, asked - 1));
    }
    assert.ok(turnPriority(round, 0) < turnPriority(round + 1, 9));
  }
});
