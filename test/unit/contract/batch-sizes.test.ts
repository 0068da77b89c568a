import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeListed } from '@hotcell/contract/batch-sizes.ts';

const run = { blocks: [{ language: 'bash', code: 'print x' }] };
const listed = (count: number, bytes: number) => ({
  items: Array.from({ length: count }, () => ({ text: 'x'.repeat(bytes) })),
});

test('an item that comes with the request is as small as one of a file', () => {
  assert.deepEqual(judgeListed(run, listed(3, 16_000)), []);
  const over = { items: [{}, { text: 'x'.repeat(17_000) }, { text: 'é'.repeat(8_500) }] };
  const issues = judgeListed(run, over);
  assert.deepEqual(
    issues.map(({ path }) => path),
    ['over.items[1]', 'over.items[2]'],
  );
  assert.match(issues[0]?.message ?? '', /an item has at most 16 KiB. Pass larger data as a file or an input/);
});

test('items and the run that they share are bounded in sum', () => {
  assert.deepEqual(judgeListed(run, listed(1_000, 1_000)), []);
  const [issue, ...more] = judgeListed(run, listed(1_000, 1_100));
  assert.deepEqual([issue?.path, more], ['over.items', []]);
  assert.match(issue?.message ?? '', /freeze it as a snapshot, and pass it as over.lines/);
  const large = { blocks: [{ language: 'bash', code: 'x'.repeat(1_000_000) }] };
  assert.deepEqual(judgeListed(large, listed(10, 1_000)), []);
  assert.equal(judgeListed(large, listed(100, 1_000))[0]?.path, 'over.items');
  assert.deepEqual(judgeListed(large, { lines: 'numbers' }), []);
});
