import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Digest, hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { Installed } from '@hotcell/keeper/installed.ts';
import type { RootNote } from '@hotcell/keeper/root-note.ts';

let folder: string;
let installed: Installed;
const image = sha256('image');
const profiles = { 'runc-x86_64.json': '{"a":1}', 'gvisor-x86_64.json': '{"b":2}', 'runc-aarch64.json': '{"c":3}' };

function install(digest: Digest, note: Partial<RootNote> | string): void {
  const root = join(folder, 'roots', hexOf(digest));
  mkdirSync(root, { recursive: true });
  const whole = { image: digest, tree: sha256('tree'), entries: 1, env: { A: 'b' }, refused: null };
  writeFileSync(join(root, 'note.json'), typeof note === 'string' ? note : JSON.stringify({ ...whole, ...note }));
}

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'installed-'));
  mkdirSync(join(folder, 'profiles'));
  for (const [name, text] of Object.entries(profiles)) writeFileSync(join(folder, 'profiles', name), text);
  writeFileSync(join(folder, 'profiles', 'README.md'), 'no profile');
  install(image, {});
  installed = new Installed(join(folder, 'roots'), join(folder, 'profiles'), 'x86_64');
});
after(() => rmSync(folder, { recursive: true }));

test('a root is what its note says, read anew each time', () => {
  const { path, note } = installed.root(image);
  assert.equal(path, join(folder, 'roots', hexOf(image), 'root'));
  assert.deepEqual(note.env, { A: 'b' });
  install(image, { env: { A: 'c' } });
  assert.deepEqual(installed.root(image).note.env, { A: 'c' });
});

test('an image without a root, or with that of another image, is not used', () => {
  assert.throws(() => installed.root(sha256('missing')), { code: 'image_missing' });
  const moved = sha256('moved');
  install(moved, { image });
  assert.throws(() => installed.root(moved), { code: 'cell_failed' });
  const torn = sha256('torn');
  install(torn, '{"image":');
  assert.throws(() => installed.root(torn), { code: 'cell_failed' });
});

test('an image that no cell can use is refused with the reason', () => {
  const refused = sha256('refused');
  install(refused, { refused: '/work is a link' });
  assert.throws(() => installed.root(refused), { code: 'image_refused', message: /\/work is a link/ });
});

test('a profile is that of its runtime on this machine, and no other', () => {
  const of = (name: keyof typeof profiles) => sha256(profiles[name]);
  assert.deepEqual(installed.profile(of('runc-x86_64.json'), 'runc'), { a: 1 });
  assert.deepEqual(installed.profile(of('gvisor-x86_64.json'), 'gvisor'), { b: 2 });
  for (const [digest, runtime] of [
    [of('gvisor-x86_64.json'), 'runc'],
    [of('runc-x86_64.json'), 'gvisor'],
    [of('runc-aarch64.json'), 'runc'],
    [sha256('unknown'), 'runc'],
  ] as const)
    assert.throws(() => installed.profile(digest, runtime), { code: 'posture_differs' });
});
