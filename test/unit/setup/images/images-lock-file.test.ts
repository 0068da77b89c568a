import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { LockedImage } from '@hotcell/contract/images-lock.ts';
import { lockImage, lockedImages } from '@hotcell/setup/images/images-lock-file.ts';

const image = (name: string): LockedImage => ({
  ref: `hotcell/${name}:1`,
  digest: sha256(name),
  kind: 'cell',
  packages: sha256(`${name}'s`),
});

describe('images.lock', () => {
  let home = '';
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'hotcell-lock-'));
  });
  after(() => rm(home, { recursive: true, force: true }));

  test('is empty before the first build, and then holds what was locked, readable to all', async () => {
    assert.deepEqual(await lockedImages(home), {});
    await lockImage(home, 'python', image('python'));
    await lockImage(home, 'node', image('node'));
    assert.deepEqual(await lockedImages(home), { node: image('node'), python: image('python') });
    assert.equal((await stat(join(home, 'images.lock'))).mode & 0o777, 0o644);
  });

  test('has an identical copy in the folder that the services mount', async () => {
    const [lock, copy] = await Promise.all(
      ['images.lock', 'images/images.lock'].map((path) => readFile(join(home, path), 'utf8')),
    );
    assert.equal(copy, lock);
  });

  test('keeps the other images when one is locked again', async () => {
    await lockImage(home, 'node', { ...image('node'), digest: sha256('newer') });
    assert.deepEqual(await lockedImages(home), {
      node: { ...image('node'), digest: sha256('newer') },
      python: image('python'),
    });
  });

  test('is refused by name if it is damaged', async () => {
    await writeFile(join(home, 'images.lock'), '{"python":{"digest":"latest"}}');
    await assert.rejects(
      lockedImages(home),
      (error: unknown) => error instanceof HotcellError && /images\.lock.*python\.digest/s.test(error.message),
    );
  });
});
