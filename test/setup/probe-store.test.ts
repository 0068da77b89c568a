import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { before, describe, test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { probeStore } from '@hotcell/outside/store/probe-store.ts';
import { StoreAdmin } from '@hotcell/outside/store/store-admin.ts';
import { findInstallation, type Installation } from '@hotcell/setup/settings/installation.ts';

const mark = randomUUID().slice(0, 8);
let installation: Installation;

before(async () => {
  const found = await findInstallation(process.env);
  assert.ok(found, 'HOTCELL_HOME must name an installation whose store runs');
  installation = found;
});

const refuses =
  (code: string, ...patterns: RegExp[]) =>
  (error: unknown) =>
    error instanceof HotcellError && error.code === code && patterns.every((pattern) => pattern.test(error.message));

/** A proxy before the real store that turns every failed condition into success: a store without conditional writes. */
async function storeWithoutConditions(endpoint: string): Promise<AsyncDisposable & { url: string }> {
  const { hostname, port } = new URL(endpoint);
  const proxy = createServer((asked, answer) => {
    // The host header is part of the signature: it stays.
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
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      proxy.closeAllConnections();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

describe('probing a store', () => {
  test('accepts the store that `up` starts', async () => {
    await probeStore(installation.store);
  });

  test('refuses a store that lets every conditional write win, and names the condition', async () => {
    await using proxy = await storeWithoutConditions(installation.store.endpoint);
    await assert.rejects(
      probeStore({ ...installation.store, endpoint: proxy.url }),
      refuses('store_unavailable', /If-None-Match 32 won/, /lacks conditional writes/, new RegExp(proxy.url)),
    );
  });

  test('refuses a record bucket without versions and Object Lock, and names both', async () => {
    const plain = `plain-${mark}`;
    using admin = new StoreAdmin(installation.store);
    await admin.createBucket(plain, { locked: false });
    await assert.rejects(
      probeStore({ ...installation.store, record: plain }),
      refuses('store_unavailable', /does not keep versions/, /no Object Lock/),
    );
  });

  test('names the store that does not answer', async () => {
    const endpoint = await nowhere();
    await assert.rejects(
      probeStore({ ...installation.store, endpoint }),
      refuses('store_unavailable', new RegExp(endpoint)),
    );
  });
});

/** An address on which a server has just stopped listening. */
async function nowhere(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}
