import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { memoryOf } from '@hotcell/cli/hash-memory.ts';
import { placesIn } from '@hotcell/setup/settings/installation.ts';

const root = mkdtempSync(join(tmpdir(), 'client-'));
after(() => rmSync(root, { recursive: true }));

const env = (home: string) => ({ HOTCELL_HOME: join(root, home) });

test('each source has a memory of its own, in a folder that only its user can enter', () => {
  const { hashes } = placesIn(join(root, 'fresh'));
  for (const source of [root, `${root}/`, tmpdir()]) memoryOf(source, env('fresh'))?.keep();
  assert.equal(readdirSync(hashes).length, 2);
  assert.equal(statSync(hashes).mode & 0o777, 0o700);
});

test('a hundred sources are remembered: those that were frozen last, and nothing half written', () => {
  const { hashes } = placesIn(join(root, 'full'));
  memoryOf(root, env('full'));
  for (let i = 0; i < 120; i++) {
    writeFileSync(join(hashes, `old-${i}`), '');
    utimesSync(join(hashes, `old-${i}`), i, i);
  }
  memoryOf(root, env('full'));
  assert.deepEqual(readdirSync(hashes).toSorted(), Array.from({ length: 100 }, (_, i) => `old-${i + 20}`).toSorted());
});

test('without a place to write to, or without a source, there is no memory and no error', () => {
  writeFileSync(join(root, 'file'), '');
  assert.equal(memoryOf(root, env('file/home')), undefined);
  assert.equal(memoryOf(join(root, 'gone'), env('fresh')), undefined);
});
