import type { IncomingMessage } from 'node:http';

/** A sender of more than this is cut off, and may not see why. */
const mostBytes = 256 * 1024 * 1024;
const withinMs = 30_000;

/**
 * Reads a refused body to its end and keeps nothing of it: a sender that is cut off sees a broken connection instead of
 * the answer that says why.
 */
export async function readPast(request: IncomingMessage): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  let bytes = 0;
  const late = setTimeout(resolve, withinMs);
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > mostBytes) resolve();
  });
  for (const name of ['end', 'close', 'error'] as const) request.once(name, resolve);
  request.resume();
  await promise;
  clearTimeout(late);
}
