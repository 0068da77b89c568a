import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, test } from 'node:test';
import { describeHolder, holderOf, inodeOf, isFree } from '@hotcell/setup/settings/ports.ts';

describe('a port', () => {
  test('that a program listens on is not free, and is named with the process', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      assert.equal(await isFree(port), false);
      const holder = await holderOf(port);
      assert.equal(holder.pid, process.pid);
      assert.match(describeHolder(holder), new RegExp(`port ${port} is taken by process ${process.pid} \\(.+\\)`));
    } finally {
      server.close();
      await once(server, 'close');
    }
  });

  test('is found among listeners only, by its number in hexadecimal', () => {
    const table = [
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
      '   0: 0100007F:1CF4 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 111 1 0',
      '   1: 0100007F:1CF4 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 222 1 0',
    ].join('\n');
    assert.equal(inodeOf(table, 7412), '222');
    assert.equal(inodeOf(table, 7413), undefined);
  });

  test('of a hidden process is named with the command that shows the process', () => {
    assert.match(describeHolder({ port: 7411 }), /sudo ss -ltnp/);
    assert.match(describeHolder({ port: 7411, container: 'web' }), /container web/);
  });
});
