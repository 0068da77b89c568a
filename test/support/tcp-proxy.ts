import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Where connections go from now on. */
  target: { host: string; port: number } | { path: string };
  /** What is open is torn, and nothing new gets through, until `heal`. */
  cut(): void;
  /** Asked with the first line of whatever is sent on: true tears the connection instead. */
  tears: (line: string) => boolean;
  /** The same question: true swallows it, and its connection is never answered again. */
  swallows: (line: string) => boolean;
  /** So long everything takes, in either direction. */
  delayMs: number;
  /** Nothing moves any more, and nobody is told. */
  freeze(): void;
  /** The same for what is open now; who comes anew gets through. */
  abandon(): void;
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
    const asked = gate((chunk) => {
      const line = chunk.toString('latin1').split('\r\n', 1)[0] ?? '';
      if (proxy.tears(line)) near.destroy();
      else if (proxy.swallows(line)) stop(pair);
      else return true;
      return false;
    });
    near.pipe(asked).pipe(far);
    far.pipe(gate(() => true)).pipe(near);
    if (state === 'frozen') stop(pair);
  });
  /** Everything as late as is wanted, and in order: a long way, not a narrow one. */
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
      // The stream calls back when what is late has passed.
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
