import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { UnpackBounds } from '@hotcell/keeper/unpack-bounds.ts';

let layer: string;
beforeEach(() => {
  layer = mkdtempSync(join(tmpdir(), 'hotcell-bounds-'));
  mkdirSync(join(layer, 'deep'));
});
afterEach(() => rmSync(layer, { recursive: true }));

function hole(path: string, bytes: number): void {
  writeFileSync(path, '');
  truncateSync(path, bytes);
}

describe('what an image may unpack to', () => {
  test('counts a hole with its whole size', () => {
    hole(join(layer, 'deep/hole'), 1024 ** 4);
    assert.throws(() => new UnpackBounds().count(layer), { code: 'invalid', message: /more than 68719476736 bytes/ });
  });

  test('is one total over all layers', () => {
    hole(join(layer, 'deep/file'), 600);
    const bounds = new UnpackBounds({ bytes: 1000, entries: 100 });
    bounds.count(layer);
    assert.throws(() => bounds.count(layer), /more than 1000 bytes/);
  });

  test('bounds the number of entries', () => {
    for (const name of ['a', 'b', 'c']) writeFileSync(join(layer, name), '');
    assert.throws(() => new UnpackBounds({ bytes: 1000, entries: 3 }).count(layer), /more than 3 entries/);
  });

  test('follows no link', () => {
    symlinkSync(layer, join(layer, 'deep/again'));
    new UnpackBounds({ bytes: 1000, entries: 2 }).count(layer);
  });
});
