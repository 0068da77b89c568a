import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { certificates, registryArguments } from '@hotcell/setup/images/machine.ts';
import { withScratch } from '@hotcell/setup/images/scratch.ts';

describe('a build gets from this machine', () => {
  let home = '';
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'hotcell-machine-'));
  });
  after(() => rm(home, { recursive: true, force: true }));

  test('its package registries, and nothing else of the environment', async () => {
    const env = { GOPROXY: 'https://go.example', https_proxy: 'http://proxy.example:3128', SECRET: 'stays here' };
    const { NPM_REGISTRY, ...rest } = await registryArguments(env, home);
    assert.deepEqual(rest, { GOPROXY: 'https://go.example', HTTPS_PROXY: 'http://proxy.example:3128' });
    assert.match(NPM_REGISTRY ?? '', /^https?:\/\/.*[^/]$/);
  });

  test('a bundle of certificates, always', async () => {
    const bundle = await certificates({}, home);
    assert.match(await readFile(bundle, 'utf8'), /BEGIN CERTIFICATE/);
  });

  test('a folder that is removed when the work ends or fails, together with those of dead processes', async () => {
    const tmp = join(home, 'tmp');
    // No process has this number: it is above what Linux and macOS give out.
    await mkdir(join(tmp, 'images-4999999-abcdef'), { recursive: true });
    await mkdir(join(tmp, 'of-somebody-else'));
    await assert.rejects(
      withScratch(home, async (folder) => {
        assert.ok(folder.startsWith(join(tmp, `images-${process.pid}-`)));
        throw new Error('in the middle');
      }),
      /in the middle/,
    );
    assert.deepEqual(await readdir(tmp), ['of-somebody-else']);
  });
});
