import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** The target of new connections. */
  target: { host: string; port: number } | { path: string };
  /** Breaks open connections and refuses new ones until `heal`. */
  cut(): void;
  /** Called with the first line of each piece that is sent: true breaks the connection instead. */
  tears: (line: string) => boolean;
  /** Called likewise: true swallows the piece, and its connection is never answered again. */
  swallows: (line: string, piece: Buffer) => boolean;
  /** Delays everything, in either direction. */
  delayMs: number;
  /** Stops all traffic silently. */
  freeze(): void;
  /** Stops the traffic of open connections silently; new ones get through. */
  abandon(): void;
  heal(): void;
}

/** A proxy to a service for faults of the network. It listens on a path or on a local address. */
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
    const asked = gate((chunk) => {
      const line = chunk.toString('latin1').split('\r\n', 1)[0] ?? '';
      if (proxy.tears(line)) near.destroy();
      else if (proxy.swallows(line, chunk)) stop(pair);
      else return true;
      return false;
    });
    near.pipe(asked).pipe(far);
    far.pipe(gate(() => true)).pipe(near);
    if (state === 'frozen') stop(pair);
  });
  /** Delays everything in order: high latency, not low bandwidth. */
  const gate = (passes: (chunk: Buffer) => boolean) => {
    let tail: Promise<unknown> = Promise.resolve();
    let late = 0;
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        if (!passes(chunk)) return done();
        if (proxy.delayMs === 0 && late === 0) return done(null, chunk);
        late++;
        tail = Promise.all([tail, pause(proxy.delayMs)]).then(() => {
          late--;
          this.push(chunk);
        });
        done();
      },
      // The callback comes when the delayed bytes have passed.
      async flush(done) {
        await tail;
        done();
      },
    });
  };
  const stop = ([near, far]: [Socket, Socket]) => {
    for (const socket of [near, far]) socket.unpipe().pause();
  };
  if (typeof listen === 'string') server.listen(listen);
  else server.listen(0, listen.host);
  await once(server, 'listening');
  const address = server.address();
  const proxy: TcpProxy = {
    port: typeof address === 'object' && address ? address.port : 0,
    target,
    tears: () => false,
    swallows: () => false,
    delayMs: 0,
    cut() {
      state = 'cut';
      for (const pair of pairs) for (const socket of pair) socket.destroy();
    },
    freeze() {
      state = 'frozen';
      for (const pair of pairs) stop(pair);
    },
    abandon() {
      for (const pair of pairs) stop(pair);
    },
    heal() {
      // Frozen connections are given up: their clients connect again.
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
