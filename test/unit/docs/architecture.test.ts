import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { z } from 'zod';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
const Manifest = z.object({
  name: z.string(),
  workspaces: z.array(z.string()).optional(),
  dependencies: z.record(z.string(), z.string()),
});
const manifestOf = (room: string) => Manifest.parse(JSON.parse(readFileSync(join(root, room, 'package.json'), 'utf8')));
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

  test('says of each room which others its manifest lists, which is what `npm run check` enforces', () => {
    const rows = [...page.matchAll(/^\| `([\w/-]+)\/` \| .+ \|(.*)\|$/gm)];
    const said = rows.map(([, room = '', list = '']) => [room, list.match(/[\w/-]+/g)?.toSorted() ?? []] as const);
    const manifests = manifestOf('.').workspaces?.map((room) => [room, manifestOf(room)] as const) ?? [];
    const roomOf = new Map(manifests.map(([room, { name }]) => [name, room]));
    const enforced = manifests.map(([room, { dependencies }]) => [
      room,
      Object.keys(dependencies)
        .flatMap((name) => roomOf.get(name) ?? [])
        .toSorted(),
    ]);
    assert.deepEqual(said, enforced);
  });
});
