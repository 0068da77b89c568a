import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { InstalledInit, makeCellFolder } from '@hotcell/keeper/cell-folder.ts';
import { testLimits } from '../../support/limits.ts';

let folder: string;
let init: InstalledInit;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'cell-folder-'));
  writeFileSync(join(folder, 'program'), 'init');
  init = new InstalledInit(join(folder, 'program'));
});
after(() => rmSync(folder, { recursive: true }));

const mode = (path: string) => statSync(path).mode & 0o777;

test('a cell has a copy of its own of everything that is mounted into it', () => {
  const [one, other] = ['one', 'other'].map((name) => {
    const mounts = makeCellFolder(join(folder, name), { uid: 10_007, limits: { ...testLimits, cpus: 1 }, init });
    return { at: join(folder, name), mounts };
  });
  assert.ok(one && other);
  for (const { source } of one.mounts) {
    assert.ok(source.startsWith(`${one.at}/`));
    assert.notEqual(statSync(source).ino, statSync(join(other.at, basename(source))).ino);
  }
  const targets = one.mounts.map(({ target }) => target);
  assert.deepEqual(targets.slice(0, 2), [targets[0], '/sys/devices']);
  assert.ok(targets.includes('/etc/passwd') && targets.includes('/etc/resolv.conf'));
  assert.match(readFileSync(join(one.at, 'passwd'), 'utf8'), /^job:x:10007:10007:/m);
  assert.equal(readFileSync(join(one.at, 'cell-init'), 'utf8'), 'init');
  assert.equal(readFileSync(join(one.at, 'devices/system/cpu/online'), 'utf8'), '0\n');
});

test('a cell’s own users may come through to its files, and can change none', () => {
  const at = join(folder, 'modes');
  makeCellFolder(at, { uid: 1, limits: testLimits, init });
  assert.equal(mode(at), 0o711);
  assert.equal(mode(join(at, 'inputs')), 0o755);
  assert.equal(mode(join(at, 'cell-init')), 0o555);
  for (const name of ['passwd', 'hosts', 'devices/system/cpu/online']) assert.equal(mode(join(at, name)), 0o444, name);
  assert.deepEqual(readdirSync(join(at, 'inputs')), []);
});

test('a cell sees no more processors than the host has', () => {
  const at = join(folder, 'processors');
  makeCellFolder(at, { uid: 1, limits: { ...testLimits, cpus: 10_000 }, init });
  const here = availableParallelism();
  assert.equal(readFileSync(join(at, 'devices/system/cpu/possible'), 'utf8'), here === 1 ? '0\n' : `0-${here - 1}\n`);
});

test('an init that the operator replaces is used from the next cell on', () => {
  assert.equal(init.bytes.toString(), 'init');
  assert.equal(init.bytes, init.bytes, 'it is read once');
  writeFileSync(join(folder, 'new'), 'newer init');
  renameSync(join(folder, 'new'), join(folder, 'program'));
  assert.equal(init.bytes.toString(), 'newer init');
});
