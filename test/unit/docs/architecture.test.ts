import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { mayImport } from '../../check/import-direction.ts';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
const walk = [...page.matchAll(/^(\d+)\. `([^`]+)` (.+)$/gm)];

describe('the page of the architecture', () => {
  test('walks one run through at most 30 files, each named once and there', () => {
    const files = walk.map(([, , file = '']) => file);
    assert.ok(files.length >= 20 && files.length <= 30, `${files.length} files`);
    assert.deepEqual(
      walk.map(([, number]) => Number(number)),
      files.map((_, i) => i + 1),
    );
    assert.equal(new Set(files).size, files.length);
    assert.deepEqual(
      files.filter((file) => !existsSync(join(root, file))),
      [],
    );
  });

  test('says of each room which others it may import, as `npm run check` enforces it', () => {
    const rows = [...page.matchAll(/^\| `([\w/-]+)\/` \| .+ \|(.*)\|$/gm)];
    const said = rows.map(([, room, list = '']) => [room, list.split(',').map((name) => name.trim())] as const);
    const enforced = Object.entries(mayImport).map(([room, list]) => [room, list.length > 0 ? list : ['']] as const);
    assert.deepEqual(said, enforced);
  });
});
