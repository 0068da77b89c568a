import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Cores } from '@hotcell/executor-worker/cell/cores.ts';

describe('the processors that cells begin on', () => {
  test('are all used before one carries two cells, wherever the first is', () => {
    for (const first of [0, 1, 2, 3]) {
      const cores = new Cores(4, first);
      assert.equal(new Set(['a', 'b', 'c', 'd'].map((cell) => cores.take(cell, 1))).size, 4);
    }
  });
  test('are those that carry the fewest cells', () => {
    const cores = new Cores(4, 0);
    assert.deepEqual([cores.take('a', 2), cores.take('b', 1)], [0, 2]);
    cores.giveBack('a');
    cores.giveBack('a');
    assert.deepEqual([cores.take('c', 1), cores.take('d', 2)], [3, 0]);
  });
  test('go round the end', () => {
    const cores = new Cores(4, 0);
    assert.deepEqual([cores.take('a', 3), cores.take('b', 3)], [0, 3]);
  });
  test('may be fewer than a cell may use', () => {
    const cores = new Cores(2, 0);
    assert.deepEqual([cores.take('a', 8), cores.take('b', 1), cores.take('c', 1)], [0, 0, 1]);
  });
});
