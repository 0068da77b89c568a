import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shorten } from '@hotcell/mcp/shorten.ts';

test('a short text stays as it is', () => {
  assert.deepEqual(shorten('abc', 3), { text: 'abc', isWhole: true });
});

test('of a long text the beginning and the end stay, and what is between them is counted', () => {
  assert.deepEqual(shorten('abcdefgh', 4), { text: 'ab\n[… 4 characters left out …]\ngh', isWhole: false });
});

test('a cut through a character leaves no half of it', () => {
  const { text } = shorten('😀'.repeat(5), 6);
  assert.ok(text.isWellFormed());
});
