import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Claimant, shareOut } from '@hotcell/executor-worker/waiting/share-out.ts';
import fc from 'fast-check';

const claimant = (key: string, more: Partial<Claimant> = {}): Claimant => ({
  ...{ key, wanted: 1, pinned: 0, arrivals: 1, bytes: 10 },
  ...more,
});
const shares = (claimants: Claimant[], cells = 4, bytes = 1_000) =>
  Object.fromEntries(shareOut(claimants, { cells, bytes }));

test('each class gets what it wants while there is room', () => {
  assert.deepEqual(shares([claimant('a', { wanted: 2 }), claimant('b')]), { a: 2, b: 1 });
});

test('what is pinned comes first, wanted or not', () => {
  const busy = claimant('busy', { wanted: 9, arrivals: 100 });
  assert.deepEqual(shares([busy, claimant('pinned', { wanted: 0, arrivals: 0, pinned: 3 })]), { pinned: 3, busy: 1 });
});

test('a class with more arrivals gets more, but not all: each further cell is worth less', () => {
  const [busy, calm] = [claimant('busy', { wanted: 9, arrivals: 10 }), claimant('calm', { wanted: 9, arrivals: 4 })];
  assert.deepEqual(shares([calm, busy]), { busy: 3, calm: 1 });
});

test('a class whose cells don’t fit leaves the memory to others', () => {
  const big = claimant('big', { wanted: 2, arrivals: 50, bytes: 60 });
  assert.deepEqual(shares([big, claimant('small', { wanted: 3 })], 9, 100), { big: 1, small: 3 });
});

test('never more cells or bytes than there are, and to no class more than it wants or has pinned', () => {
  const one = fc.record({
    key: fc.uuid(),
    ...{ wanted: fc.nat(9), pinned: fc.nat(3), arrivals: fc.nat(64), bytes: fc.integer({ min: 1, max: 90 }) },
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 12 }), fc.nat(16), fc.nat(500), (claimants, cells, bytes) => {
      const given = shareOut(claimants, { cells, bytes });
      const has = ({ key }: Claimant) => given.get(key) ?? 0;
      assert.ok(claimants.reduce((sum, each) => sum + has(each), 0) <= cells);
      assert.ok(claimants.reduce((sum, each) => sum + has(each) * each.bytes, 0) <= bytes);
      for (const each of claimants) assert.ok(has(each) <= Math.max(each.wanted, each.pinned));
    }),
  );
});
