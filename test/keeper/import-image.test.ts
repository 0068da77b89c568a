import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Digest, hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { command, must } from '@hotcell/setup/command.ts';
import { lockedImages } from '@hotcell/setup/images/images-lock-file.ts';
import { importImage } from '@hotcell/setup/keeper/import-image.ts';
import { ensureRoots, sealedUnpacking } from '@hotcell/setup/keeper/roots.ts';
import { showProgressOn } from '@hotcell/setup/progress.ts';
import { placesIn } from '@hotcell/setup/settings/installation.ts';
import { z } from 'zod';
import { type Bed, openBed } from '../support/bed.ts';

let bed: Bed;
let home: string;
const progress = showProgressOn(process.stderr);
before(async () => {
  bed = await openBed();
  home = await bed.folder('import');
  await copyFile(placesIn(bed.installation.home).imagesLock, placesIn(home).imagesLock);
});
after(() => bed?.[Symbol.asyncDispose]());

const Note = z.looseObject({ image: Digest, tree: Digest, entries: z.int() });
const noteIn = async (roots: string, image: Digest) =>
  parseJsonAs(Note, await readFile(join(roots, hexOf(image), 'note.json'), 'utf8'), 'a note');
const architecture = process.arch === 'x64' ? 'amd64' : 'arm64';

/** An archive as `docker save` writes it, of these layers. */
async function archiveOf(name: string, layers: readonly Buffer[], diffIds = layers.map((layer) => sha256(layer))) {
  const folder = await bed.folder(`archive-${name}`);
  const config = JSON.stringify({ os: 'linux', architecture, config: { Env: ['A=b'] }, rootfs: { diff_ids: diffIds } });
  const files = layers.map((_, index) => `layer-${index}.tar`);
  for (const [index, layer] of layers.entries())
    await writeFile(join(folder, files[index] ?? ''), index % 2 === 0 ? layer : gzipSync(layer));
  await writeFile(join(folder, 'config.json'), config);
  await writeFile(join(folder, 'manifest.json'), JSON.stringify([{ Config: 'config.json', Layers: files }]));
  const file = join(folder, 'image.tar');
  await must(['tar', '-C', folder, '-cf', file, 'manifest.json', 'config.json', ...files]);
  return { file, image: `sha256:${createHash('sha256').update(config).digest('hex')}` };
}

/** A tar archive of what `fill` puts into a folder, with options of tar's own. */
async function layerOf(
  name: string,
  fill: (folder: string) => Promise<unknown>,
  ...options: string[]
): Promise<Buffer> {
  const folder = await bed.folder(`layer-${name}`);
  await mkdir(join(folder, 'files'));
  await fill(join(folder, 'files'));
  const file = join(folder, 'layer.tar');
  await must(['tar', '-C', join(folder, 'files'), '-cf', file, ...options, '.']);
  return await readFile(file);
}
const put =
  (path: string, text = '') =>
  (folder: string) =>
    mkdir(join(folder, path, '..'), { recursive: true }).then(() => writeFile(join(folder, path), text));

test('an image that is imported has the same files as one that the engine unpacks', async () => {
  const { minimal } = await lockedImages(home);
  const keeper = (await lockedImages(home))['keeper'];
  assert.ok(minimal && keeper);
  const file = join(home, 'minimal.tar');
  await must(['docker', 'save', '--output', file, minimal.ref]);
  const imported = await importImage(home, { file, name: 'imported' }, progress);
  assert.equal(imported.digest, minimal.digest);
  assert.equal((await lockedImages(home))['imported']?.digest, minimal.digest);
  const byImport = await noteIn(placesIn(home).keeperRoots, minimal.digest);
  const other = await bed.folder('unpacked');
  await ensureRoots(other, keeper.digest, { minimal }, progress);
  const byEngine = await noteIn(placesIn(other).keeperRoots, minimal.digest);
  // The engine adds a file of its own to what it exports.
  await rm(join(placesIn(other).keeperRoots, hexOf(minimal.digest), 'root/.dockerenv'), { force: true });
  const list = async (roots: string) =>
    await must(['find', join(roots, hexOf(minimal.digest), 'root'), '-printf', '%P %m %U %G %s %l\n']).then((text) =>
      text
        .split('\n')
        .filter((line) => !line.startsWith(' ') && !/^(dev|proc|sys|etc)( |\/)/.test(line))
        .toSorted(),
    );
  assert.deepEqual(await list(placesIn(home).keeperRoots), await list(placesIn(other).keeperRoots));
  assert.equal(byImport.image, byEngine.image);
});

test('layers lie over each other, compressed or not, and what one takes away is gone', async () => {
  const lower = await layerOf('lower', async (folder) => {
    await put('a/gone', 'x')(folder);
    await put('a/stays', 'y')(folder);
  });
  const upper = await layerOf('upper', put('a/.wh.gone'));
  const { file, image } = await archiveOf('layers', [lower, upper]);
  assert.equal((await importImage(home, { file, name: 'layers' }, progress)).digest, image);
  assert.deepEqual(await readdir(join(placesIn(home).keeperRoots, hexOf(image), 'root/a')), ['stays']);
});

test('an image whose upper layer writes through a link of a lower one changes nothing outside', async () => {
  const victim = join(placesIn(home).keeperRoots, 'victim');
  await mkdir(victim, { recursive: true });
  const lower = await layerOf('link', (folder) => symlink('/roots/victim', join(folder, 'way')));
  const upper = await layerOf('through', put('way/file', 'overwritten'));
  const { file } = await archiveOf('through', [lower, upper]);
  await importImage(home, { file, name: 'through' }, progress);
  assert.deepEqual(await readdir(victim), []);
  await rm(victim, { recursive: true });
});

const hostile: Record<string, { layer: () => Promise<Buffer>; diffId?: Digest; said: RegExp }> = {
  'a name that leads out of it': {
    layer: () => layerOf('out', put('file'), '-P', '--transform', 's,^,../../../,'),
    said: /tar refused the archive/,
  },
  'a device': {
    layer: () => layerOf('device', (folder) => must(['mknod', join(folder, 'null'), 'c', '1', '3'])),
    said: /Operation not permitted|a device/,
  },
  'a pipe': {
    layer: () => layerOf('pipe', (folder) => must(['mkfifo', join(folder, 'pipe')])),
    said: /a device, socket or pipe/,
  },
  'other bytes than its configuration says': {
    layer: () => layerOf('other', put('file')),
    diffId: `sha256:${'1'.repeat(64)}`,
    said: /configuration says sha256:1111/,
  },
};
for (const [what, { layer, diffId, said }] of Object.entries(hostile))
  test(`an archive with ${what} is refused, and nothing of it stays`, async () => {
    const bytes = await layer();
    const { file, image } = await archiveOf('hostile', [bytes], [diffId ?? sha256(bytes)]);
    await assert.rejects(importImage(home, { file, name: 'hostile' }, progress), { code: 'invalid', message: said });
    assert.equal((await lockedImages(home))['hostile'], undefined);
    const { keeperRoots } = placesIn(home);
    assert.ok(!existsSync(join(keeperRoots, hexOf(image))));
    assert.deepEqual(
      (await readdir(keeperRoots)).filter((name) => name.startsWith('.')),
      [],
    );
  });

test('what unpacks an archive takes no more memory of the host than it may', async () => {
  const keeper = (await lockedImages(home))['keeper'];
  assert.ok(keeper);
  const greedy = ['--eval', 'Buffer.alloc(768 * 1024 ** 2, 1)'];
  const run = (options: readonly string[]) => command(['docker', 'run', ...options, keeper.digest, ...greedy]);
  assert.equal((await run(sealedUnpacking)).code, 137);
  assert.equal((await run(sealedUnpacking.filter((option) => !option.startsWith('--memory')))).code, 0);
});

test('no other user of the host can look into the folder of roots', async () => {
  const { mode } = await stat(placesIn(home).keeperRoots);
  assert.equal(mode & 0o777, 0o700);
});

test('a file that is no image is refused, and one that is not there is named', async () => {
  const file = join(home, 'text.tar');
  await writeFile(file, 'no archive');
  await assert.rejects(importImage(home, { file, name: 'text' }, progress), { code: 'invalid' });
  await assert.rejects(importImage(home, { file: `${file}.none`, name: 'none' }, progress), { code: 'not_found' });
});
