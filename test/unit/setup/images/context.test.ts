import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { contentTag, contextFiles, type Ingredients } from '@hotcell/setup/images/context.ts';

const ingredients: Ingredients = {
  name: 'python',
  architecture: 'amd64',
  files: { Dockerfile: '- sha256:aa', 'a/b.txt': '- sha256:bb' },
  parents: { BASE: 'sha256:cc' },
};

describe('the tag of an image', () => {
  test('is the same for the same ingredients in any order', () => {
    const files = { 'a/b.txt': '- sha256:bb', Dockerfile: '- sha256:aa' };
    assert.equal(contentTag({ ...ingredients, files }), contentTag(ingredients));
    assert.match(contentTag(ingredients), /^[0-9a-f]{20}$/);
  });

  test('differs when a file, the base, the architecture or the name differs', () => {
    const others = [
      { ...ingredients, files: { ...ingredients.files, Dockerfile: 'x sha256:aa' } },
      { ...ingredients, parents: { BASE: 'sha256:dd' } },
      { ...ingredients, architecture: 'arm64' },
      { ...ingredients, name: 'node' },
    ];
    const tags = [ingredients, ...others].map(contentTag);
    assert.equal(new Set(tags).size, tags.length);
  });
});

describe('the context of a build', () => {
  let root = '';
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'hotcell-context-'));
    await mkdir(join(root, 'src/node_modules'), { recursive: true });
    await writeFile(join(root, 'src/a.ts'), 'a', { mode: 0o600 });
    await writeFile(join(root, 'src/node_modules/dependency.js'), 'not ours');
    await writeFile(join(root, 'beside.txt'), 'not asked for');
  });
  after(() => rm(root, { recursive: true, force: true }));

  test('is every file of the paths asked for, without installed packages', async () => {
    assert.deepEqual(Object.keys(await contextFiles(root, ['src', 'missing'])), ['src/a.ts']);
  });

  test('changes with content and executable bits, not with read permissions', async () => {
    const first = await contextFiles(root, ['src']);
    await chmod(join(root, 'src/a.ts'), 0o644);
    assert.deepEqual(await contextFiles(root, ['src']), first);
    await chmod(join(root, 'src/a.ts'), 0o755);
    const executable = await contextFiles(root, ['src']);
    assert.notDeepEqual(executable, first);
    await writeFile(join(root, 'src/a.ts'), 'b');
    assert.notDeepEqual(await contextFiles(root, ['src']), executable);
  });
});
