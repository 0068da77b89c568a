import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const folder = join(import.meta.dirname, '../../../docs/decisions');
const read = (file: string) => readFileSync(join(folder, file), 'utf8');

test('the index of decisions has one row for each, with its title, status and date', () => {
  const pages = globSync('[0-9]*.md', { cwd: folder }).toSorted();
  const rows = pages.map((page) => {
    const [, number, title, status, date] =
      /^# (\d{4}): (.+)\n\nStatus: (accepted|superseded by \d{4}) · (\d{4}-\d\d-\d\d)\n/.exec(read(page)) ?? [];
    assert.ok(number && page.startsWith(number), `${page} begins with "# NNNN: Title" and "Status: accepted · date"`);
    return `| [${number}](${page}) | ${title} | ${status} | ${date} |`;
  });
  assert.ok(rows.length > 0);
  assert.deepEqual(read('README.md').match(/^\| \[\d.*$/gm), rows);
});
