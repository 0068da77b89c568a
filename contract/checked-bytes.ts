import { createHash } from 'node:crypto';
import type { Digest } from './digest.ts';

/**
 * Passes on what comes, but for the last chunk until the digest of all is known: wrong bytes never arrive whole. `differs`
 * makes the error.
 */
export async function* checkedBytes<T extends Uint8Array>(
  chunks: AsyncIterable<T>,
  digest: Digest,
  differs: (found: Digest) => Error,
): AsyncGenerator<T> {
  const hash = createHash('sha256');
  let held: T | undefined;
  for await (const chunk of chunks) {
    hash.update(chunk);
    if (held) yield held;
    held = chunk;
  }
  const found: Digest = `sha256:${hash.digest('hex')}`;
  if (found !== digest) throw differs(found);
  if (held) yield held;
}
