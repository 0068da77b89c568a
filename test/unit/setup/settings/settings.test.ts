import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseConfig } from '@hotcell/setup/settings/config-file.ts';
import { readCliSettings } from '@hotcell/setup/settings/environment.ts';
import { findInstallation, placesIn } from '@hotcell/setup/settings/installation.ts';
import { prepareInstallation } from '@hotcell/setup/settings/prepare-installation.ts';

const says = (pattern: RegExp) => (error: unknown) => error instanceof HotcellError && pattern.test(error.message);

async function inHome(work: (home: string) => Promise<void>): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'hotcell-settings-'));
  try {
    await work(home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

describe('settings in the environment', () => {
  test('an unknown name is refused with the nearest known one', () => {
    assert.throws(() => readCliSettings({ HOTCELL_PORTBASE: '7000' }), says(/HOTCELL_PORTBASE.*HOTCELL_PORT_BASE/));
  });

  for (const [name, value, reason] of [
    ['HOTCELL_PORT_BASE', 'seven', /HOTCELL_PORT_BASE.*port number/],
    ['HOTCELL_PORT_BASE', '80', /HOTCELL_PORT_BASE.*between 1024 and 65533/],
    ['HOTCELL_PORT_BASE', '65534', /HOTCELL_PORT_BASE.*between 1024 and 65533/],
    ['HOTCELL_REDIS_URL', 'localhost:6379', /HOTCELL_REDIS_URL.*redis:\/\//],
    ['HOTCELL_S3_ENDPOINT', 'ftp://store', /HOTCELL_S3_ENDPOINT.*http/],
    ['HOTCELL_INSTALLATION', 'My Cell', /HOTCELL_INSTALLATION/],
    ['HOTCELL_LOG_LEVEL', 'loud', /HOTCELL_LOG_LEVEL/],
    ['HOTCELL_CPUS', 'many', /HOTCELL_CPUS.*number/],
    ['HOTCELL_WEBHOOK_NETWORKS', '10.0.0.0', /HOTCELL_WEBHOOK_NETWORKS.*10\.0\.0\.0 is no network/],
    ['HOTCELL_UIDS', '10000', /HOTCELL_UIDS.*two uids, such as 10000-49999/],
    ['HOTCELL_UIDS', '1000-49999', /HOTCELL_UIDS.*begin at 10000/],
    ['HOTCELL_UIDS', '20000-19000', /HOTCELL_UIDS.*at least 2048 uids/],
    ['HOTCELL_UIDS', '60000-70000', /HOTCELL_UIDS.*must not contain 65534/],
    ['HOTCELL_UIDS', '100000-4000000000', /HOTCELL_UIDS.*end at 2147483647/],
  ] as const)
    test(`${name}=${value} is refused by its name`, () => {
      assert.throws(() => readCliSettings({ [name]: value }), says(reason));
    });
});

describe('config.env', () => {
  test('is lines KEY=value, with comments', () => {
    assert.deepEqual(parseConfig('# a\n\nHOTCELL_URL=http://x:1/?a=b\n', 'config.env'), {
      HOTCELL_URL: 'http://x:1/?a=b',
    });
  });

  test('a malformed line is named by its number', () => {
    assert.throws(() => parseConfig('HOTCELL_URL=x\nexport A=1\n', '/h/config.env'), says(/\/h\/config\.env, line 2/));
  });

  test('a wrong setting in it is named with the file', async () => {
    await inHome(async (home) => {
      await writeFile(placesIn(home).config, 'HOTCELL_S3_ENDPOINT=nowhere\n');
      await assert.rejects(findInstallation({ HOTCELL_HOME: home }), says(/config\.env: .*HOTCELL_S3_ENDPOINT/));
    });
  });
});

describe('an installation on disk', () => {
  test('is not created by looking for it', async () => {
    await inHome(async (home) => {
      const there = join(home, 'none');
      assert.equal(await findInstallation({ HOTCELL_HOME: there }), undefined);
      await assert.rejects(stat(there), { code: 'ENOENT' });
    });
  });

  test('is found again with everything that was set or generated', async () => {
    await inHome(async (home) => {
      const made = await prepareInstallation({ HOTCELL_HOME: home, HOTCELL_PORT_BASE: '9400' });
      assert.deepEqual(await findInstallation({ HOTCELL_HOME: home }), made);
      assert.deepEqual(await prepareInstallation({ HOTCELL_HOME: home }), made);
      assert.equal(made.url, 'http://127.0.0.1:9400');
      assert.deepEqual(made.ports, { api: 9400, s3: 9401, redis: 9402 });
      assert.deepEqual(made.own, { store: true, valkey: true });
    });
  });

  test('makes cells as the last `up` chose, or as the operator says', async () => {
    await inHome(async (home) => {
      const chosen = async (env = {}) => {
        const { cells, cellsBecause } = await prepareInstallation({ HOTCELL_HOME: home, ...env });
        return [cells, cellsBecause];
      };
      assert.equal((await chosen())[0], 'engine');
      await writeFile(placesIn(home).cells, '{"way":"keeper","why":"it can"}');
      assert.deepEqual(await chosen(), ['keeper', 'it can']);
      assert.equal((await chosen({ HOTCELL_CELLS: 'engine' }))[0], 'engine');
      // config.env keeps what it was told.
      assert.deepEqual(await chosen(), ['engine', 'HOTCELL_CELLS says so']);
    });
  });

  test('lets only its owner read its secrets', async () => {
    await inHome(async (home) => {
      await prepareInstallation({ HOTCELL_HOME: home });
      const places = placesIn(home);
      const mode = async (path: string) => (await stat(path)).mode & 0o777;
      assert.equal(await mode(places.config), 0o600);
      assert.equal(await mode(places.credentials), 0o600);
      assert.equal(await mode(places.secrets), 0o700);
      assert.equal(await mode(places.keys), 0o700);
    });
  });

  test('gets new addresses with another port base', async () => {
    await inHome(async (home) => {
      const before = await prepareInstallation({ HOTCELL_HOME: home, HOTCELL_PORT_BASE: '9400' });
      const after = await prepareInstallation({ HOTCELL_HOME: home, HOTCELL_PORT_BASE: '9500' });
      assert.equal(after.id, before.id);
      assert.equal(after.store.endpoint, 'http://127.0.0.1:9501');
      assert.match(after.redisUrl, /127\.0\.0\.1:9502$/);
      assert.deepEqual(after.own, { store: true, valkey: true });
    });
  });

  test('with an external store does not start its own, and asks for the keys', async () => {
    await inHome(async (home) => {
      const outside = { HOTCELL_HOME: home, HOTCELL_S3_ENDPOINT: 'https://s3.example' };
      await assert.rejects(prepareInstallation(outside), says(/HOTCELL_S3_ACCESS_KEY and HOTCELL_S3_SECRET_KEY/));
      const keys = { HOTCELL_S3_ACCESS_KEY: 'a', HOTCELL_S3_SECRET_KEY: 'b' };
      const made = await prepareInstallation({ ...outside, ...keys });
      assert.deepEqual(made.own, { store: false, valkey: true });
      assert.equal((await findInstallation({ HOTCELL_HOME: home }))?.store.endpoint, 'https://s3.example');
    });
  });

  test('refuses a loopback address, which its containers cannot reach', async () => {
    await inHome(async (home) => {
      const redis = prepareInstallation({ HOTCELL_HOME: home, HOTCELL_REDIS_URL: 'redis://localhost:6379' });
      await assert.rejects(redis, says(/HOTCELL_REDIS_URL is a loopback address/));
    });
  });

  test('with an external queue does not start its own', async () => {
    await inHome(async (home) => {
      const url = 'rediss://default:secret@queue.example:6380';
      const made = await prepareInstallation({ HOTCELL_HOME: home, HOTCELL_REDIS_URL: url });
      assert.deepEqual(made.own, { store: true, valkey: false });
      assert.equal(made.redisUrl, url);
    });
  });

  test('of another name is refused', async () => {
    await inHome(async (home) => {
      await prepareInstallation({ HOTCELL_HOME: home, HOTCELL_INSTALLATION: 'first' });
      const other = prepareInstallation({ HOTCELL_HOME: home, HOTCELL_INSTALLATION: 'second' });
      await assert.rejects(other, says(/belongs to the installation first/));
      assert.match(await readFile(placesIn(home).config, 'utf8'), /HOTCELL_INSTALLATION=first/);
    });
  });
});
