import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { readNetworks } from '@hotcell/contract/address-guard.ts';
import { DeliveryTry } from '@hotcell/contract/webhook.ts';
import { postWebhook } from '@hotcell/producer/webhooks/post-webhook.ts';

const own = readNetworks('127.0.0.1/32');

/** Sends to a receiver that answers with these very bytes, and leaves its connection open or closes it. */
async function answerOf(bytes: string, end: 'open' | 'closed') {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => (end === 'open' ? socket.write(bytes) : socket.end(bytes)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    return await postWebhook(`http://127.0.0.1:${port}/`, '{}', {}, own);
  } finally {
    server.close();
  }
}

test('a receiver that would change the protocol has answered, and its connection is closed', async () => {
  const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nmore';
  assert.deepEqual(await answerOf(upgrade, 'open'), { status: 101, said: '' });
});

test('a connection that closes without an answer is one try', async () => {
  for (const bytes of ['', 'HTTP/1.1 200', 'HTTP/1.1 100 Continue\r\n\r\n', 'nonsense\r\n\r\n']) {
    const { status, said } = await answerOf(bytes, 'closed');
    assert.equal(status, null, bytes);
    assert.notEqual(said, '', bytes);
  }
  assert.deepEqual(await answerOf('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', 'closed'), {
    ...{ status: 200, said: 'ok' },
  });
});

test('what is said of an address that is refused fits into the record', async () => {
  for (const address of [`https://${'a'.repeat(5_000)}/`, `https://${'a.'.repeat(1_000)}`, 'ftp://x/', 'nonsense']) {
    const posted = await postWebhook(address, '{}', {}, own);
    DeliveryTry.parse({ at: new Date().toISOString(), ms: 0, ...posted });
    assert.match(posted.said, /^Not sent\. The address /);
  }
});
