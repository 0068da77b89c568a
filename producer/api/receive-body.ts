import type { Readable } from 'node:stream';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { formatBytes } from '@hotcell/contract/format.ts';
import { Pace } from '../bounds/pace.ts';

/** A body of any size comes within this time, apart from patience for pauses. */
const wholeWithinSeconds = 300;
const leastPerSecond = 4 * 1024;

/** How fast a body has to come for which so many bytes are held. */
export function leastSpeed(heldBytes: number): number {
  return Math.max(leastPerSecond, heldBytes / wholeWithinSeconds);
}

/** The chunks as they come. Only time that we wait for the sender counts: not ours, and none after the last byte. */
export async function* paced(body: Readable, pace: Pace, now = () => performance.now()): AsyncGenerator<Buffer> {
  // Leaving early must not destroy the connection: the answer that says why still has to go out on it.
  const chunks: AsyncIterator<Buffer> = body.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const begun = now();
      const next = await unlessLate(chunks.next(), pace.leftMs());
      if (next.done) return;
      pace.moved(next.value.length, now() - begun);
      yield next.value;
    }
  } finally {
    // Not awaited: behind a chunk that never comes it never ends.
    chunks.return?.().catch(() => undefined);
  }
}

async function unlessLate<T>(next: Promise<T>, leftMs: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(tooSlow()), leftMs);
  const broken = next.catch((cause: unknown) => {
    throw new HotcellError('invalid', 'The connection broke before the whole body had come.', { cause });
  });
  return await Promise.race([broken, late.promise]).finally(() => clearTimeout(timer));
}

function tooSlow(): HotcellError {
  return new HotcellError('too_slow', 'The body came too slowly, so reading it was given up. Send it faster.');
}

/** All of it in one piece; `grow` is awaited before more than `room` is held. */
export async function inWhole(
  chunks: AsyncIterable<Buffer>,
  { room, limit, grow }: { room: number; limit: number; grow: () => Promise<unknown> },
): Promise<Buffer[]> {
  const held: Buffer[] = [];
  let bytes = 0;
  let most = room;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > limit) throw bodyTooLarge(limit);
    if (bytes > most) {
      await grow();
      most = limit;
    }
    held.push(chunk);
  }
  return held;
}

export function bodyTooLarge(limit: number): HotcellError {
  return new HotcellError('too_large', `The body is larger than ${formatBytes(limit)}. Pass big data as an input.`);
}
