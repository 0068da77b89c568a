import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A client that speaks HTTP on a bare connection, as slowly as it likes. */
export interface SlowClient extends AsyncDisposable {
  socket: Socket;
  /** All that came by then; answers without a body of their own end with `\r\n\r\n`. */
  saw(text: string): Promise<string>;
  /** Everything, once the connection has ended, in whatever way. */
  all: Promise<string>;
}

interface Slowly {
  key: string;
  headers?: Readonly<Record<string, string | number>>;
  /** What is sent of the body. */
  body?: string;
}

export async function ask(url: string, line: string, { key, headers = {}, body = '' }: Slowly): Promise<SlowClient> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let seen = '';
  const all = new Promise<string>((resolve) => {
    socket.on('data', (chunk: Buffer) => (seen += chunk.toString('latin1')));
    // A connection that is reset is what some of these clients provoke.
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(seen));
  });
  const lines = Object.entries({ host: hostname, authorization: `Bearer ${key}`, ...headers });
  socket.write(`${line} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`);
  return {
    socket,
    all,
    async saw(text) {
      while (!seen.includes(text)) {
        const ended = await Promise.race([once(socket, 'data').then(() => false), all.then(() => true)]);
        if (ended && !seen.includes(text)) throw new Error(`the connection ended after ${JSON.stringify(seen)}`);
      }
      return seen;
    },
    async [Symbol.asyncDispose]() {
      socket.destroy();
      await all;
    },
  };
}

export const jsonOf = (announced: number) => ({ 'content-type': 'application/json', 'content-length': announced });
export const octetsOf = (announced: number) => ({
  'content-type': 'application/octet-stream',
  'content-length': announced,
});
