import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { UnderWays } from '@hotcell/producer/freeze/under-way.ts';

const lease = (id: string, more: { trustsOld?: boolean; goodUntil?: number } = {}) => ({
  id,
  trustsOld: true,
  goodUntil: Number.POSITIVE_INFINITY,
  ...more,
});
const contents = (...names: string[]) => new Map(names.map((name) => [sha256(name), 1]));
const seenOf = (underWays: UnderWays, id: string) => underWays.get('t', id)?.seen.size;

test('what was seen since a lease was opened is known until the upload is done, to its tenant alone', () => {
  const underWays = new UnderWays();
  underWays.add('t', { lease: lease('a'), seen: contents('x') });
  underWays.saw('t', 'a', sha256('y'), 7);
  assert.deepEqual(underWays.get('t', 'a')?.seen, new Map([...contents('x'), [sha256('y'), 7]]));
  assert.equal(underWays.get('other', 'a'), undefined);
  underWays.remove('t', 'a');
  assert.equal(underWays.get('t', 'a'), undefined);
});

test('a lease that may be let go of, or found the collector at work, is looked up each time', () => {
  const underWays = new UnderWays();
  underWays.add('t', { lease: lease('old', { goodUntil: 1000 }), seen: contents('x') });
  assert.notEqual(underWays.get('t', 'old', 999), undefined);
  assert.equal(underWays.get('t', 'old', 1000), undefined);
  underWays.add('t', { lease: lease('beside', { trustsOld: false }), seen: contents('x') });
  assert.equal(underWays.get('t', 'beside'), undefined);
});

test('so many uploads and so many contents are known, and the oldest are looked up', () => {
  const underWays = new UnderWays({ uploads: 2, contents: 4 });
  for (const id of ['a', 'b', 'c']) underWays.add('t', { lease: lease(id), seen: contents('x') });
  assert.deepEqual([seenOf(underWays, 'a'), seenOf(underWays, 'b'), seenOf(underWays, 'c')], [undefined, 1, 1]);
  for (const name of ['x', 'y', 'z']) underWays.saw('t', 'c', sha256(name), 1);
  assert.deepEqual([seenOf(underWays, 'b'), seenOf(underWays, 'c')], [1, 3], 'seen twice counts once');
  underWays.saw('t', 'c', sha256('one more'), 1);
  assert.deepEqual([seenOf(underWays, 'b'), seenOf(underWays, 'c')], [undefined, 4]);
  underWays.saw('t', 'b', sha256('late'), 1);
  underWays.add('t', { lease: lease('d'), seen: contents() });
  assert.deepEqual([seenOf(underWays, 'c'), seenOf(underWays, 'd')], [4, 0]);
});
