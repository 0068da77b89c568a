import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cellMemory } from '@hotcell/contract/cell-bounds.ts';
import { pageBytesIn } from '@hotcell/contract/page.ts';
import { testLimits } from '../../support/limits.ts';

const auxv = (...pairs: [tag: number, value: number][]) =>
  Buffer.concat(pairs.map((pair) => Buffer.from(BigUint64Array.from(pair, BigInt).buffer)));

describe('pages', () => {
  test('are as large as the kernel told the process', () => {
    assert.equal(pageBytesIn(auxv([33, 7], [6, 65_536], [17, 100], [0, 0])), 65_536);
  });
  test('are of the usual size where it told nothing', () => {
    assert.equal(pageBytesIn(auxv([33, 7], [0, 0])), 4096);
    assert.equal(pageBytesIn(Buffer.alloc(3)), 4096);
  });
  test('are what a cell’s memory is counted in, without more than its limit', () => {
    const of = (memoryBytes: number, page: number) =>
      cellMemory({ runtime: 'runc', limits: { ...testLimits, memoryBytes } }, page);
    assert.equal(of(100_000_000, 4096), 99_999_744);
    assert.equal(of(100_000_000, 65_536), 99_942_400);
    assert.equal(of(8192, 4096), 8192);
    assert.equal(of(1, 4096), 4096);
  });
});
