import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { RootNote } from '@hotcell/keeper/root-note.ts';
import { command } from '@hotcell/setup/command.ts';
import { until } from '../support/until.ts';

/** How an image becomes a root for cells, and how a root goes again. */
const room = resolve(import.meta.dirname, '../../keeper');
let folder: string;
let roots: string;
let archive: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roots-'));
  roots = join(folder, 'roots');
  mkdirSync(roots);
  const image = join(folder, 'image');
  mkdirSync(join(image, 'bin'), { recursive: true });
  // So big that its hash takes longer than a look at the folder.
  await writeFile(join(image, 'bin/big'), Buffer.alloc(64 * 1024 * 1024, 'x'));
  await symlink('bin', join(image, 'link'));
  archive = join(folder, 'image.tar');
  execFileSync('tar', ['--create', '--file', archive, '--directory', image, '.']);
});
after(() => rm(folder, { recursive: true, force: true }));

function install(image: string, more: object = {}): ChildProcess {
  const told = JSON.stringify({ folder: roots, image, env: ['A=b'], volumes: [], ...more });
  return spawn(process.execPath, [join(room, 'install-root-main.ts'), told], { stdio: ['pipe', 'inherit', 'pipe'] });
}
const hidden = () => readdirSync(roots).filter((name) => name.startsWith('.'));

test('a root has its name only when all of it is there, with its note', async () => {
  const image = sha256('whole');
  const child = install(image);
  assert.ok(child.stdin);
  createReadStream(archive).pipe(child.stdin);
  const ended = once(child, 'exit');
  const named = join(roots, hexOf(image));
  while (child.exitCode === null) {
    if (existsSync(named)) {
      const note = RootNote.parse(JSON.parse(readFileSync(join(named, 'note.json'), 'utf8')));
      assert.deepEqual([note.image, note.refused, note.env], [image, null, { A: 'b' }]);
      assert.equal(lstatSync(join(named, 'root/bin/big')).size, 64 * 1024 * 1024);
      assert.equal(lstatSync(named).mode & 0o777, 0o755);
    }
    await breathe();
  }
  assert.deepEqual(await ended, [0, null]);
  assert.ok(existsSync(named));
  assert.deepEqual(hidden(), []);
});

test('an installation that dies on the way leaves no root, and the next one makes it', async () => {
  const image = sha256('interrupted');
  const first = install(image);
  // All of the files, but not the archive's end: it waits for more.
  first.stdin?.write(readFileSync(archive).subarray(0, -10_240));
  await until('the files are there', async () =>
    hidden().some((name) => existsSync(join(roots, name, 'root/bin/big'))),
  );
  assert.ok(!existsSync(join(roots, hexOf(image))));
  const gone = once(first, 'exit');
  first.kill('SIGKILL');
  await gone;
  assert.equal(hidden().length, 1);

  const second = install(image);
  assert.ok(second.stdin);
  createReadStream(archive).pipe(second.stdin);
  assert.deepEqual(await once(second, 'exit'), [0, null]);
  assert.ok(existsSync(join(roots, hexOf(image), 'note.json')));
});

test('what is unused goes, by the time of its last use; what the lock or a living cell names stays', async () => {
  const names = ['locked', 'living', 'old', 'fresh'] as const;
  const [locked, living, old, fresh] = names.map((name) => sha256(name));
  assert.ok(locked && living && old && fresh);
  const longAgo = Date.now() / 1000 - 8 * 24 * 3600;
  for (const image of [locked, living, old, fresh]) mkdirSync(join(roots, hexOf(image), 'root'), { recursive: true });
  for (const image of [locked, living, old]) utimesSync(join(roots, hexOf(image)), longAgo, longAgo);
  for (const name of hidden()) utimesSync(join(roots, name), longAgo, longAgo);
  const cells = join(folder, 'cells');
  mkdirSync(join(cells, 'one'), { recursive: true });
  await writeFile(join(cells, 'one', 'note.json'), JSON.stringify({ image: living, more: 1 }));
  const left = hidden();
  assert.equal(left.length, 1);
  const told = JSON.stringify({ folder: roots, cells, locked: [locked] });
  const { code, stdout, stderr } = await command([process.execPath, join(room, 'collect-roots-main.ts'), told]);
  assert.equal(code, 0, stderr);
  assert.deepEqual((JSON.parse(stdout) as string[]).toSorted(), [hexOf(old), ...left].toSorted());
  assert.deepEqual(hidden(), []);
  for (const image of [locked, living, fresh]) assert.ok(existsSync(join(roots, hexOf(image))));
  assert.ok(!existsSync(join(roots, hexOf(old))));
});

test('while a cell’s note can’t be read, no root goes', async () => {
  const image = sha256('whose');
  const longAgo = Date.now() / 1000 - 8 * 24 * 3600;
  mkdirSync(join(roots, hexOf(image)));
  utimesSync(join(roots, hexOf(image)), longAgo, longAgo);
  await writeFile(join(folder, 'cells', 'one', 'note.json'), '');
  const told = JSON.stringify({ folder: roots, cells: join(folder, 'cells'), locked: [] });
  assert.equal((await command([process.execPath, join(room, 'collect-roots-main.ts'), told])).code, 1);
  assert.ok(existsSync(join(roots, hexOf(image))));
});
