import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Where connections go from now on. */
  target: { host: string; port: number } | { path: string };
  /** What is open is torn, and nothing new gets through, until `heal`. */
  cut(): void;
  /** Asked with the first line of whatever is sent on: true tears the connection instead. */
  tears: (line: string) => boolean;
  /** Nothing moves any more, and nobody is told. */
  freeze(): void;
  heal(): void;
}

/** Between us and a service: the network's faults. It listens on a path, or on an address of this machine. */
export async function openTcpProxy(
  target: TcpProxy['target'],
  listen: string | { host: string } = { host: '127.0.0.1' },
): Promise<TcpProxy> {
  const pairs = new Set<[Socket, Socket]>();
  let state: 'open' | 'cut' | 'frozen' = 'open';
  const server: Server = createServer({ allowHalfOpen: true }, (near) => {
    near.on('error', () => near.destroy());
    if (state === 'cut') return near.destroy();
    const far = connect({ ...proxy.target, allowHalfOpen: true });
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    far.on('error', () => near.destroy());
    near.on('close', () => {
      far.destroy();
      pairs.delete(pair);
    });
    far.on('close', () => near.destroy());
    near.prependListener('data', (chunk: Buffer) => {
      if (!proxy.tears(chunk.toString('latin1').split('\r\n', 1)[0] ?? '')) return;
      near.destroy();
      far.destroy();
    });
    near.pipe(far);
    far.pipe(near);
    if (state === 'frozen') for (const socket of pair) socket.pause();
  });
  if (typeof listen === 'string') server.listen(listen);
  else server.listen(0, listen.host);
  await once(server, 'listening');
  const address = server.address();
  const proxy: TcpProxy = {
    port: typeof address === 'object' && address ? address.port : 0,
    target,
    tears: () => false,
    cut() {
      state = 'cut';
      for (const pair of pairs) for (const socket of pair) socket.destroy();
    },
    freeze() {
      state = 'frozen';
      for (const [near, far] of pairs) {
        near.unpipe(far).pause();
        far.unpipe(near).pause();
      }
    },
    heal() {
      // Who was frozen has given up, or should: he comes again.
      if (state === 'frozen') for (const pair of pairs) for (const socket of pair) socket.destroy();
      state = 'open';
    },
    async [Symbol.asyncDispose]() {
      proxy.cut();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
