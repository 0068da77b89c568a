import { setTimeout as pause } from 'node:timers/promises';
import type { Pull } from '@hotcell/outside/queue/queue.ts';
import type { Worker } from '../worker.ts';

/** Take nothing more; what is here comes to its end, or is handed back when the grace is over. */
export async function drain(worker: Worker, pulls: readonly Pull[], graceMs: number): Promise<void> {
  await Promise.all(pulls.map((pull) => pull.stop()));
  const over = new AbortController();
  const late = pause(graceMs, undefined, { signal: over.signal }).then(
    () => {
      for (const control of worker.runs.values()) control.drain();
    },
    () => {
      // Everything ended before.
    },
  );
  await Promise.all(pulls.map((pull) => pull.idle()));
  over.abort();
  await late;
  await Promise.all(worker.leaving);
}
