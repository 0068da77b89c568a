import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { LineBroken, QuickLine } from '@hotcell/outside/store/quick-line.ts';

/** A server that answers each request it is sent with what the test says; `end` hangs up. */
async function serving(answer: (socket: Socket, nth: number) => void) {
  const sockets: Socket[] = [];
  let asked = 0;
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      if (chunk.toString().endsWith('\r\n\r\n')) answer(socket, ++asked);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const line = new QuickLine(
    new URL(`http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`),
    300,
  );
  return {
    sockets,
    get: async (signal?: AbortSignal) => {
      let body = '';
      const headers = await line.get('GET /x HTTP/1.1\r\nhost: x\r\n\r\n', (c) => void (body += c.toString()), signal);
      return { headers, body };
    },
    async [Symbol.asyncDispose]() {
      line.close();
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
const isBroken = (why: RegExp) => (error: unknown) => {
  assert.ok(error instanceof LineBroken, String(error));
  assert.match(error.message, why);
  return true;
};

test('a body is taken whole however it is cut, and the connection is used again', async () => {
  const whole = 'HTTP/1.1 200 OK\r\nContent-Length: 11\r\nETag: "x"\r\n\r\nhello world';
  await using there = await serving((socket, nth) => {
    // Byte by byte, each written when the last one is out; the second time all at once.
    if (nth === 2) return void socket.write(whole);
    const bytes = whole.split('');
    const next = () => {
      const byte = bytes.shift();
      if (byte !== undefined) socket.write(byte, next);
    };
    socket.setNoDelay(true);
    next();
  });
  for (let i = 0; i < 2; i++) {
    const { headers, body } = await there.get();
    assert.equal(body, 'hello world');
    assert.equal(headers?.['etag'], '"x"');
  }
  assert.equal(there.sockets.length, 1);
});

test('an empty body ends with its head', async () => {
  await using there = await serving((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
  assert.deepEqual((await there.get()).body, '');
});

for (const [what, head] of Object.entries({
  'another status': 'HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone',
  'a body in chunks': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngone\r\n0\r\n\r\n',
  'no length': 'HTTP/1.1 200 OK\r\n\r\ngone',
  'two lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\ngone',
  'a length that is not a number': 'HTTP/1.1 200 OK\r\nContent-Length: 4, 5\r\n\r\ngone',
  'another protocol': 'HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\ngone',
  'a head without an end': `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}`,
}))
  test(`${what} is not taken: nothing reaches the reader, and the connection is dropped`, async () => {
    await using there = await serving((socket) => socket.write(head));
    assert.deepEqual(await there.get(), { headers: undefined, body: '' });
    assert.equal(there.sockets.length, 1);
    await there.get();
    assert.equal(there.sockets.length, 2);
  });

test('too many bytes, too few, and silence are errors that say so', async () => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n';
  await using more = await serving((socket) => socket.write(`${head}hello`));
  await assert.rejects(more.get(), isBroken(/more bytes than it announced/));
  await using less = await serving((socket) => socket.end(`${head}he`));
  await assert.rejects(less.get(), isBroken(/ended the connection/));
  await using silent = await serving((socket) => socket.write(`${head}he`));
  await assert.rejects(silent.get(), isBroken(/fell silent/));
});

test('a kept connection that died while idle is opened anew; a new one that dies is an error', async () => {
  await using there = await serving((socket, nth) => {
    if (nth === 2 || nth >= 4) socket.destroy();
    else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  });
  assert.equal((await there.get()).body, 'ok');
  assert.equal((await there.get()).body, 'ok', 'the second try');
  assert.equal(there.sockets.length, 2);
  await assert.rejects(there.get(), LineBroken);
});

test('aborting ends a request at once', async () => {
  const asked = Promise.withResolvers<void>();
  await using there = await serving(() => asked.resolve());
  const giving = new AbortController();
  const getting = there.get(giving.signal);
  await asked.promise;
  giving.abort(new Error('given up'));
  await assert.rejects(getting, /given up/);
});
