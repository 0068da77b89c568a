import { setTimeout as pause } from 'node:timers/promises';
import type { WorkerBeat } from '@hotcell/contract/heartbeats.ts';
import type { Worker } from './worker.ts';

interface Asked {
  cpus: number;
  memoryBytes: number;
}

const lookEveryMs = 1_000;

/** Whether this worker could begin such a run now, as far as it said. */
export function hasRoom({ state, queues, capacity, used }: WorkerBeat, queue: string, asked: Asked): boolean {
  return (
    state === 'ready' &&
    queues.includes(queue) &&
    used.runs < capacity.runs &&
    used.cpus + Math.min(asked.cpus, capacity.cpus) <= capacity.cpus + 1e-9 &&
    used.memoryBytes + asked.memoryBytes <= capacity.memoryBytes
  );
}

/** Looks now and then, until it is over or another worker has the room that is waited for here. */
export async function othersHaveRoom(
  { live, name, log }: Worker,
  queue: string,
  asked: Asked,
  over: AbortSignal,
): Promise<boolean> {
  for (;;) {
    await pause(lookEveryMs, undefined, { signal: over }).catch(() => {
      // There is room here, or it is not waited for any more.
    });
    if (over.aborted) return false;
    try {
      const workers = await live.workers();
      if (workers.some((worker) => worker.name !== name && hasRoom(worker, queue, asked))) return true;
    } catch (error) {
      log.debug({ error }, 'whether others have room is not known now');
    }
  }
}
