import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Claimant, shareOut } from '@hotcell/executor-worker/waiting/share-out.ts';
import fc from 'fast-check';

const claimant = (key: string, uses: number[], more: Partial<Claimant> = {}): Claimant => ({
  ...{ key, uses, pinned: 0, bytes: 10 },
  ...more,
});
const shares = (claimants: Claimant[], cells = 4, bytes = 1_000) =>
  Object.fromEntries(shareOut(claimants, { cells, bytes }));

test('each class gets what it has a use for while there is room', () => {
  assert.deepEqual(shares([claimant('a', [5, 1]), claimant('b', [1])]), { a: 2, b: 1 });
});

test('what is pinned comes first, whether it was used or not', () => {
  const busy = claimant('busy', [90, 80, 70, 60, 50]);
  assert.deepEqual(shares([busy, claimant('pinned', [], { pinned: 3 })]), { pinned: 3, busy: 1 });
});

test('a cell goes where it would have been used most', () => {
  const [busy, calm] = [claimant('busy', [60, 9, 2, 1]), claimant('calm', [4, 3])];
  assert.deepEqual(shares([calm, busy]), { busy: 2, calm: 2 });
});

test('a class whose cells don’t fit leaves the memory to others', () => {
  const big = claimant('big', [50, 50], { bytes: 60 });
  assert.deepEqual(shares([big, claimant('small', [1, 1, 1])], 9, 100), { big: 1, small: 3 });
});

test('never more cells or bytes than there are, and to no class more than it uses or has pinned', () => {
  const one = fc.record({
    ...{ key: fc.uuid(), uses: fc.array(fc.integer({ min: 1, max: 64 }), { maxLength: 9 }) },
    ...{ pinned: fc.nat(3), bytes: fc.integer({ min: 1, max: 90 }) },
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 12 }), fc.nat(16), fc.nat(500), (claimants, cells, bytes) => {
      const given = shareOut(claimants, { cells, bytes });
      const has = ({ key }: Claimant) => given.get(key) ?? 0;
      assert.ok(claimants.reduce((sum, each) => sum + has(each), 0) <= cells);
      assert.ok(claimants.reduce((sum, each) => sum + has(each) * each.bytes, 0) <= bytes);
      for (const each of claimants) assert.ok(has(each) <= Math.max(each.uses.length, each.pinned));
    }),
  );
});
