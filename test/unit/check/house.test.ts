import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { houseTroubles } from '../../check/house.ts';

const small = ['producer/accept.ts', 'producer/ask.ts', 'images/job.c'].map((path) => ({ path, lines: 80 }));

describe('the size and names of source files', () => {
  test('are in order when names are unique and files small', () => assert.deepEqual(houseTroubles(small), []));

  for (const [what, extra, trouble] of [
    ['two files of one name', { path: 'notary/accept.ts', lines: 10 }, /2 files are named accept\.ts/],
    ['a file of more than 300 lines', { path: 'notary/big.ts', lines: 301 }, /notary\/big\.ts has 301 lines/],
  ] as const)
    test(`${what} are refused`, () => {
      const [found, ...others] = houseTroubles([...small, extra]);
      assert.match(found ?? '', trouble);
      assert.deepEqual(others, []);
    });

  test('a median above 80 lines is refused', () => {
    assert.match(houseTroubles(small.map((file) => ({ ...file, lines: 81 }))).join(), /the median is at most 80/);
  });
});
