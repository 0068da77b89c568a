import assert from 'node:assert/strict';
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { makeModesPlain } from '@hotcell/keeper/plain-modes.ts';

let place: string;
let root: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'hotcell-modes-'));
  root = join(place, 'root');
  mkdirSync(join(root, 'deep'), { recursive: true });
});
afterEach(() => rmSync(place, { recursive: true }));

const modeOf = (path: string) => lstatSync(path).mode & 0o7777;
function file(path: string, mode: number): string {
  writeFileSync(path, '');
  chmodSync(path, mode);
  return path;
}

test('a root loses setuid and setgid at every depth, and keeps all other rights', () => {
  const su = file(join(root, 'deep/su'), 0o6755);
  const secret = file(join(root, 'secret'), 0o600);
  chmodSync(join(root, 'deep'), 0o3777);
  makeModesPlain(root);
  assert.deepEqual([su, secret, join(root, 'deep')].map(modeOf), [0o755, 0o600, 0o1777]);
});

test('what a link in a root leads to keeps its mode', () => {
  const outside = file(join(place, 'outside'), 0o4755);
  symlinkSync(outside, join(root, 'link'));
  makeModesPlain(root);
  assert.equal(modeOf(outside), 0o4755);
});
