import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { reference } from '../../docs/reference.ts';

test('docs/reference.md is up to date: `node test/docs/generate.ts` writes it', () => {
  assert.equal(readFileSync(join(import.meta.dirname, '../../../docs/reference.md'), 'utf8'), reference());
});
