import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { schemas } from '../../docs/schemas.ts';

test('no schema that other versions read changes unnoticed; `sh setup/node.sh test/docs/generate.ts` writes them', () => {
  const golden = readFileSync(join(import.meta.dirname, 'schemas.golden.txt'), 'utf8');
  assert.deepEqual(schemas().split('\n'), golden.split('\n'));
});
