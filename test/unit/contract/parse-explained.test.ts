import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExplained } from '@hotcell/contract/explain-issues.ts';
import { z } from 'zod';

const query = z.strictObject({ status: z.string().optional(), limit: z.coerce.number().max(500).optional() });

test('an unknown field of a query or a body is named, with what was probably meant', () => {
  assert.deepEqual(parseExplained(query, { limit: '5' }, 'the query'), { limit: 5 });
  const refused = (message: string) => ({ code: 'invalid', message: `the query is not valid: ${message}` });
  const mistyped = 'staus: Unknown field "staus". Did you mean "status"?';
  assert.throws(() => parseExplained(query, { staus: 'x' }, 'the query'), refused(mistyped));
  const unknown = 'x: Unknown field "x". Known fields: status, limit.';
  assert.throws(() => parseExplained(query, { x: '1' }, 'the query'), refused(unknown));
  assert.throws(() => parseExplained(query, { limit: '501' }, 'the query'), refused('limit: must be at most 500'));
});
