import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nearest } from '@hotcell/contract/nearest.ts';

test('a typing error finds the name that is meant', () => {
  const known = ['timeoutSeconds', 'memoryBytes', 'cpus'];
  for (const [typed, meant] of [
    ['timeoutSecond', 'timeoutSeconds'],
    ['TimeoutSeconds', 'timeoutSeconds'],
    ['timoutSecodns', 'timeoutSeconds'],
    ['cpu', 'cpus'],
    ['memorybyte', 'memoryBytes'],
  ] as const)
    assert.equal(nearest(typed, known), meant, typed);
});

test('a name that differs too much finds none', () => {
  for (const [typed, known] of [
    ['network', ['cpus', 'pids']],
    ['cp', ['xy']],
    ['cpus', ['cpabc']],
    ['a', []],
  ] as const)
    assert.equal(nearest(typed, known), undefined, typed);
});

test('names are compared up to 64 characters', () => {
  const known = ['x'.repeat(64)];
  assert.equal(nearest(`${'x'.repeat(63)}y`, known), known[0]);
  assert.equal(nearest('x'.repeat(65), known), undefined);
});

/** How many letters have to be added, left out or changed, by its definition. */
function edits(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  const last = edits(a.slice(0, -1), b.slice(0, -1)) + (a.at(-1) === b.at(-1) ? 0 : 1);
  return Math.min(edits(a.slice(0, -1), b) + 1, edits(a, b.slice(0, -1)) + 1, last);
}

test('the name that is meant is at most two letters away, and the nearest of all', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 3 }), (name, known) => {
      const begun = name.length >= 3 ? known.find((one) => one.startsWith(name)) : undefined;
      const [best] = known.map((one) => ({ one, by: edits(name, one) })).toSorted((a, b) => a.by - b.by);
      const near = best && best.by <= 2 && best.by < name.length ? best.one : undefined;
      assert.equal(nearest(name, known), begun ?? near);
    }),
    { numRuns: 300 },
  );
});
