import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

/** A link to a service with limited bandwidth in either direction and back-pressure. */
export async function openSlowLink(target: string, bytesPerSecond: number): Promise<AsyncDisposable & { url: string }> {
  const { hostname, port } = new URL(target);
  const slowed = () =>
    new Transform({
      highWaterMark: 16 * 1024,
      transform(chunk: Buffer, _, passed) {
        void pause((chunk.length / bytesPerSecond) * 1000).then(() => passed(null, chunk));
      },
    });
  const server = createServer({ highWaterMark: 16 * 1024 }, (near) => {
    const far = connect(Number(port), hostname);
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
    near.pipe(slowed()).pipe(far);
    far.pipe(slowed()).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}
