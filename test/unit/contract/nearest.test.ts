import assert from 'node:assert/strict';
import { test } from 'node:test';
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
