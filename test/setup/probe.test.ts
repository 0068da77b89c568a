import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { judgeQueue, probeQueue, probeStore } from '@hotcell/outside/process/probe.ts';
import { StoreAdmin } from '@hotcell/outside/store/store-admin.ts';
import { must } from '@hotcell/setup/command.ts';
import { readImagesLock } from '@hotcell/setup/images/images-lock-file.ts';
import { findInstallation, type Installation } from '@hotcell/setup/settings/installation.ts';
import { until } from '../support/until.ts';

const mark = randomUUID().slice(0, 8);
let installation: Installation;

before(async () => {
  const found = await findInstallation(process.env);
  assert.ok(found, 'HOTCELL_HOME names an installation whose store and queue run');
  installation = found;
});

const refuses =
  (code: string, ...patterns: RegExp[]) =>
  (error: unknown) =>
    error instanceof HotcellError && error.code === code && patterns.every((pattern) => pattern.test(error.message));

/** A door in front of the real store that says yes where it said no to a condition: a store without conditions. */
async function doorWithoutConditions(endpoint: string): Promise<AsyncDisposable & { url: string }> {
  const { hostname, port } = new URL(endpoint);
  const door = createServer((asked, answer) => {
    // The host stays as it was signed.
    const { url: path, method, headers } = asked;
    const passed = request({ hostname, port, path, method, headers }, (said) => {
      const lost = asked.method === 'PUT' && said.statusCode === 412;
      if (!lost) {
        answer.writeHead(said.statusCode ?? 502, said.headers);
        said.pipe(answer);
        return;
      }
      said.resume();
      answer.writeHead(200, { etag: '"accepted"' }).end();
    });
    passed.on('error', () => answer.destroy());
    asked.pipe(passed);
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  return {
    url: `http://127.0.0.1:${(door.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      door.closeAllConnections();
      door.close();
      await once(door, 'close');
    },
  };
}

describe('the probe of a store', () => {
  test('passes the store that up starts', async () => {
    await probeStore(installation.store);
  });

  test('refuses one that lets every conditional write win, and says which condition', async () => {
    await using door = await doorWithoutConditions(installation.store.endpoint);
    await assert.rejects(
      probeStore({ ...installation.store, endpoint: door.url }),
      refuses('store_unavailable', /If-None-Match 32 won/, /lacks conditional writes/, new RegExp(door.url)),
    );
  });

  test('refuses a record bucket without versions and lock, and names what it lacks', async () => {
    const plain = `plain-${mark}`;
    using admin = new StoreAdmin(installation.store);
    await admin.createBucket(plain, { locked: false });
    await assert.rejects(
      probeStore({ ...installation.store, record: plain }),
      refuses('store_unavailable', /does not keep versions/, /no Object Lock/),
    );
  });

  test('says which store does not answer', async () => {
    const endpoint = await nowhere();
    await assert.rejects(
      probeStore({ ...installation.store, endpoint }),
      refuses('store_unavailable', new RegExp(endpoint)),
    );
  });
});

/** An address that was just let go. */
async function nowhere(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

describe('the probe of a queue', () => {
  const container = `hotcell-test-probe-${mark}`;

  after(async () => {
    await must(['docker', 'rm', '--force', '--volumes', container]);
  });

  test('passes the queue that up starts', async () => {
    await probeQueue(installation.redisUrl);
  });

  test('refuses one that evicts and one that forgets, and names both settings', async () => {
    const image = (await readImagesLock(installation.home))['valkey']?.digest;
    assert.ok(image, 'the image of the queue is in the lock');
    const labels = ['hotcell.managed=1', 'hotcell.role=test', `hotcell.installation=${installation.id}`];
    const options = [
      '--detach',
      '--name',
      container,
      '--publish',
      '127.0.0.1::6379',
      '--read-only',
      '--tmpfs',
      '/data',
    ];
    const settings = [
      '--maxmemory-policy',
      'allkeys-lru',
      '--appendonly',
      'no',
      '--protected-mode',
      'no',
      '--dir',
      '/data',
    ];
    await must(['docker', 'run', ...options, ...labels.flatMap((label) => ['--label', label]), image, ...settings]);
    const published = await must(['docker', 'port', container, '6379/tcp']);
    const url = `redis://${published.trim().split('\n')[0]}`;
    await until('the queue says what it lacks', async () => {
      try {
        await probeQueue(url);
        return false;
      } catch (error) {
        return refuses('queue_unavailable', /maxmemory-policy: is allkeys-lru/, /appendonly: is off/)(error);
      }
    });
  });

  test('says that a wrong password opens nothing, without saying the password', async () => {
    const url = new URL(installation.redisUrl);
    url.password = 'guessed-wrong';
    await assert.rejects(
      probeQueue(url.toString()),
      (error: unknown) =>
        refuses('queue_unavailable', new RegExp(url.host))(error) &&
        !(error as Error).message.includes('guessed-wrong'),
    );
  });
});

test('a queue that tells nothing of itself is not believed', () => {
  assert.deepEqual(
    judgeQueue('# Memory\r\n').map((issue) => issue.path),
    ['maxmemory-policy', 'appendonly'],
  );
});
