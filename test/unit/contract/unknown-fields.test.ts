import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseWithout } from '@hotcell/contract/unknown-fields.ts';
import { z } from 'zod';

const File = z.strictObject({ path: z.string() });
const Sized = z.strictObject({ path: z.string(), size: z.number().optional() });
/** Two of its shapes fit but for unknown fields, and the first does not. */
const Choice = z.union([z.strictObject({ url: z.string(), size: z.number() }), File, Sized]);
const Shape = z.strictObject({
  name: z.string(),
  inner: z.strictObject({ deep: Choice }),
  list: z.array(z.union([z.string(), File])),
});
const value = { name: 'n', inner: { deep: { path: 'p' } }, list: ['a', { path: 'b' }] };

test('a value without unknown fields is as it is', () => {
  assert.deepEqual(parseWithout(Shape, value), { data: value, unknown: [] });
});

test('every unknown field is left out, however deep, also within a choice of shapes', () => {
  const more = {
    ...{ ...value, added: 1 },
    inner: { deep: { path: 'p', added: 2 }, other: 3 },
    list: ['a', { path: 'b', new: 4 }],
  };
  const parsed = parseWithout(Shape, more);
  assert.ok('data' in parsed);
  assert.deepEqual(parsed.data, value);
  const found = parsed.unknown.flatMap(({ path, keys }) => keys.map((key) => [...path, key].join('.')));
  assert.deepEqual(found.toSorted(), ['added', 'inner.deep.added', 'inner.other', 'list.1.new']);
  // The original stays whole: its bytes have a digest.
  assert.deepEqual(more.inner, { deep: { path: 'p', added: 2 }, other: 3 });
});

test('what is wrong beside an unknown field is still an error', () => {
  assert.ok('error' in parseWithout(Shape, { ...value, name: 1 }));
  assert.ok('error' in parseWithout(Shape, { ...value, name: 1, added: 1 }));
  // It matches no shape even without its unknown field.
  assert.ok('error' in parseWithout(Shape, { ...value, inner: { deep: { url: 'u', added: 1 } } }));
  assert.ok('error' in parseWithout(Shape, { ...value, list: [{ paths: 'b' }] }));
});
