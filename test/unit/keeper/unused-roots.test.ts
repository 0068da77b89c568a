import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unusedRoots } from '@hotcell/keeper/unused-roots.ts';

const hour = 60 * 60_000;
const week = 7 * 24 * hour;
const nowMs = 100 * week;
const root = (name: string, ageMs: number) => ({ name, usedAtMs: nowMs - ageMs });
const nothing = new Set<string>();

test('a root goes a week after its last use, unless it is in the lock or a living cell has it', () => {
  const found = [root('a', week + 1), root('b', week - 1), root('c', week + 1), root('d', week + 1)];
  assert.deepEqual(unusedRoots(found, { locked: new Set(['c']), living: new Set(['d']), nowMs }), ['a']);
});

test('what an interrupted installation left goes when it can’t be one that is under way', () => {
  const found = [root('.new-x', hour + 1), root('.old-y', hour + 1), root('.new-z', hour - 1)];
  assert.deepEqual(unusedRoots(found, { locked: nothing, living: nothing, nowMs }), ['.new-x', '.old-y']);
});
