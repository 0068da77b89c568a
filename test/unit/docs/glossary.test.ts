import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/glossary.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:word|---) /.test(line))
  .map((line) => line.split(' | ').map((cell) => cell.replaceAll('|', '').trim()));

test('the glossary lists each word once, in alphabetical order, with a file that exists', () => {
  const words = rows.map(([word = '']) => word.toLowerCase());
  assert.deepEqual(words, [...new Set(words)].toSorted());
  for (const [word, meaning, file = ''] of rows) assert.ok(meaning && existsSync(join(root, file)), `${word}: ${file}`);
});
