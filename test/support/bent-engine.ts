import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { engineSocket } from './bed.ts';

/**
 * A proxy to the machine's engine that replaces a text in requests, to get containers with other options, and if wanted
 * another text in answers, to hide that. Both texts have the same length, so that nothing else changes.
 */
export async function openBentEngine(
  path: string,
  asked: string,
  instead: string,
  answered?: { told: string; instead: string },
): Promise<AsyncDisposable> {
  for (const [one, other] of [[asked, instead], ...(answered ? [[answered.told, answered.instead]] : [])])
    if (one?.length !== other?.length) throw new Error(`${one} and ${other} are not of the same length`);
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ path: engineSocket, allowHalfOpen: true });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        other.destroy();
        open.delete(one);
      });
    }
    near.pipe(replacing(asked, instead)).pipe(far);
    (answered ? far.pipe(replacing(answered.told, answered.instead)) : far).pipe(near);
  });
  server.listen(path);
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function replacing(asked: string, instead: string): Transform {
  let held = '';
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const text = (held + chunk.toString('latin1')).replaceAll(asked, instead);
      // A possible beginning of the text is held back until more arrives.
      let keep = Math.min(asked.length - 1, text.length);
      while (!asked.startsWith(text.slice(text.length - keep))) keep--;
      held = text.slice(text.length - keep);
      done(null, Buffer.from(text.slice(0, text.length - keep), 'latin1'));
    },
    flush(done) {
      done(null, Buffer.from(held, 'latin1'));
    },
  });
}
