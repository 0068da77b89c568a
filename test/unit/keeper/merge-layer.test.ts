import assert from 'node:assert/strict';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  chmodSync,
  existsSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { mergeLayer } from '@hotcell/keeper/merge-layer.ts';

let place: string;
let root: string;
let layer: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'hotcell-layers-'));
  [root, layer] = ['root', 'layer'].map((name) => join(place, name)) as [string, string];
  for (const folder of [root, layer]) mkdirSync(folder);
});
afterEach(() => rmSync(place, { recursive: true }));

function write(path: string, text = ''): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
}

describe('a layer over those below', () => {
  test('adds and replaces files, and joins folders', () => {
    write(join(root, 'a/old'), 'old');
    write(join(root, 'a/both'), 'old');
    write(join(layer, 'a/both'), 'new');
    write(join(layer, 'a/new'), 'new');
    mergeLayer(layer, root);
    const said = ['old', 'both', 'new'].map((name) => readFileSync(join(root, 'a', name), 'utf8'));
    assert.deepEqual(said, ['old', 'new', 'new']);
  });

  test('takes away what it marks, whether file or folder, and nothing else', () => {
    write(join(root, 'a/file'));
    write(join(root, 'a/folder/deep'));
    write(join(root, 'a/stays'));
    for (const name of ['file', 'folder', 'never-there']) write(join(layer, 'a', `.wh.${name}`));
    mergeLayer(layer, root);
    const left = ['file', 'folder', 'stays', '.wh.file'].map((name) => existsSync(join(root, 'a', name)));
    assert.deepEqual(left, [false, false, true, false]);
  });

  test('hides what is below an opaque folder, but not what it brings itself', () => {
    write(join(root, 'a/below'));
    write(join(layer, 'a/.wh..wh..opq'));
    write(join(layer, 'a/own'));
    mergeLayer(layer, root);
    assert.deepEqual(
      ['below', 'own'].map((name) => existsSync(join(root, 'a', name))),
      [false, true],
    );
  });

  for (const name of ['.wh.', '.wh..', '.wh...', '.wh..wh.plnk'])
    test(`can't take away the folder itself or what is above it by the mark ${name}`, () => {
      write(join(place, 'outside'));
      write(join(root, 'a/stays'));
      write(join(layer, 'a', name));
      mergeLayer(layer, root);
      assert.ok(existsSync(join(root, 'a/stays')));
      assert.ok(existsSync(join(place, 'outside')));
    });

  test('follows no link of a lower layer: a folder takes its place', () => {
    mkdirSync(join(place, 'outside'));
    write(join(place, 'outside/kept'), 'kept');
    symlinkSync(join(place, 'outside'), join(root, 'a'));
    write(join(layer, 'a/kept'), 'overwritten');
    write(join(layer, 'a/.wh..wh..opq'));
    mergeLayer(layer, root);
    assert.equal(readFileSync(join(place, 'outside/kept'), 'utf8'), 'kept');
    assert.ok(lstatSync(join(root, 'a')).isDirectory());
  });

  test('removes a marked link and not what it leads to', () => {
    write(join(place, 'outside/kept'));
    symlinkSync(join(place, 'outside'), join(root, 'a'));
    write(join(layer, '.wh.a'));
    mergeLayer(layer, root);
    assert.ok(existsSync(join(place, 'outside/kept')));
    assert.equal(lstatSync(join(root, 'a'), { throwIfNoEntry: false }), undefined);
  });

  test('keeps absolute links as they are: a cell resolves them in its own root', () => {
    symlinkSync('/etc/passwd', join(layer, 'a'));
    mergeLayer(layer, root);
    assert.equal(readlinkSync(join(root, 'a')), '/etc/passwd');
  });

  test('drops setuid and setgid of files', () => {
    write(join(layer, 'su'));
    chmodSync(join(layer, 'su'), 0o6755);
    mergeLayer(layer, root);
    assert.equal(lstatSync(join(root, 'su')).mode & 0o7777, 0o755);
  });
});
