import { longBytes } from '@hotcell/record/long-work.ts';
import { Threads } from '@hotcell/outside/process/threads.ts';
import { parseBody } from './body.ts';
import type { BodyCalls } from './body-thread.ts';

/** Two at a time: a body of 64 MiB may be a million values, which take several times its length. */
const threads = new Threads<BodyCalls>(new URL('./body-thread.ts', import.meta.url), {
  most: 2,
  idleMs: 10_000,
  heapMiB: 1_024,
});

/** The value of a request's body; of a long one in a thread, so that others are answered meanwhile. */
export async function parseAnyBody(bytes: Buffer): Promise<unknown> {
  return bytes.length < longBytes ? parseBody(bytes) : await threads.call('parseBody', bytes);
}
