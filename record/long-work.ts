import { availableParallelism } from 'node:os';
import { Threads } from '@hotcell/outside/process/threads.ts';
import { type Hashed, type LongCalls, longCalls } from './long-calls.ts';

/** Less is done at once: it takes a few milliseconds, and a thread would have to be woken for it. */
export const longBytes = 256 * 1024;

const threads = new Threads<LongCalls>(new URL('./long-thread.ts', import.meta.url), {
  most: Math.max(2, Math.min(4, availableParallelism())),
  idleMs: 10_000,
  // A million outputs, which a policy may allow, with the tree of their names.
  heapMiB: 1_536,
});

/** Work on so many bytes: in a thread if they are many, so that this process goes on with everything else. */
export async function longWork<N extends keyof LongCalls>(
  bytes: number,
  name: N,
  ...args: Parameters<LongCalls[N]>
): Promise<ReturnType<LongCalls[N]>> {
  if (bytes >= longBytes) return await threads.call(name, ...args);
  const call = longCalls[name] as (...given: Parameters<LongCalls[N]>) => ReturnType<LongCalls[N]>;
  return call(...args);
}

/** Of a path or an entry with its digest. */
const entryBytes = 128;
export const bytesOfEntries = (count: number) => count * entryBytes;

/** Roughly how long a value is as JSON. It stops counting where the work is long in any case. */
export function roughBytes(value: unknown): number {
  let bytes = 0;
  const left: unknown[] = [value];
  while (left.length > 0 && bytes < longBytes) {
    const next = left.pop();
    bytes += typeof next === 'string' ? next.length : 8;
    if (!(next instanceof Object)) continue;
    for (const key in next) {
      bytes += key.length;
      left.push((next as Record<string, unknown>)[key]);
      if (left.length > longBytes) return longBytes;
    }
  }
  return bytes;
}

/** The canonical form of a value, and its digest. */
export async function hashedForm(value: unknown): Promise<Hashed> {
  return await longWork(roughBytes(value), 'canonical', value);
}
