import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isAbandoned, slotsWith, slotsWithout } from '@hotcell/record/slot-list.ts';

const at = '2026-01-01T00:00:00.000Z';
const later = '2026-01-01T00:05:00.000Z';
const taken = (id: string) => ({ id, at });
const made = (id: string) => ({ id, at, made: true as const });
const bound = { most: 2, at: later };

describe('a list of slots', () => {
  test('takes one more while it is not full', () => {
    assert.deepEqual(slotsWith([made('a')], { id: 'b', made: false }, bound), [made('a'), { id: 'b', at: later }]);
    assert.equal(slotsWith([made('a'), taken('c')], { id: 'b', made: false }, bound), undefined);
  });

  test('changes nothing for one that has its slot', () => {
    assert.equal(slotsWith([taken('a')], { id: 'a', made: false }, bound), undefined);
    assert.equal(slotsWith([made('a')], { id: 'a', made: true }, bound), undefined);
    assert.equal(slotsWith([made('a')], { id: 'a', made: false }, bound), undefined);
  });

  test('confirms a slot, which keeps its time, also when it is full', () => {
    assert.deepEqual(slotsWith([taken('a'), taken('b')], { id: 'a', made: true }, bound), [taken('b'), made('a')]);
  });

  test('gives a slot that was freed meanwhile to its first owner again, or to none if it is full', () => {
    const confirmed = { id: 'a', at: later, made: true };
    assert.deepEqual(slotsWith([made('b')], { id: 'a', made: true }, bound), [made('b'), confirmed]);
    assert.equal(slotsWith([made('b'), made('c')], { id: 'a', made: true }, bound), undefined);
  });

  test('keeps a slot that was confirmed after it was judged as abandoned', () => {
    const judged = [taken('a'), taken('b')];
    assert.deepEqual(slotsWithout([made('a'), taken('b'), taken('c')], judged), [made('a'), taken('c')]);
  });
});

test('a slot is abandoned if it is not confirmed within a minute', () => {
  const begun = Date.parse(at);
  assert.equal(isAbandoned(taken('a'), begun + 60_000), false);
  assert.equal(isAbandoned(taken('a'), begun + 60_001), true);
  assert.equal(isAbandoned(made('a'), begun + 3_600_000), false);
});
