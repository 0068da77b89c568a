import type { WorkerBeat } from '@hotcell/contract/heartbeats.ts';
import type { Attempt } from '@hotcell/contract/result.ts';
import type { Ticketed } from '../stages.ts';
import { restUnlessAborted } from '@hotcell/contract/waits.ts';
import type { Worker } from '../worker.ts';
import type { Needs } from './capacity.ts';

const lookEveryMs = 1_000;

/** The workers whose cells for this run were not what its policy requires. */
export function unfitWorkers(attempts: readonly Pick<Attempt, 'worker' | 'error'>[]): Set<string> {
  return new Set(attempts.filter(({ error }) => error?.code === 'posture_differs').map(({ worker }) => worker));
}

/** The ready workers that take this queue and are not among the unfit. */
export function fitWorkers(
  workers: readonly Pick<WorkerBeat, 'name' | 'state' | 'queues'>[],
  queue: string,
  unfit: ReadonlySet<string>,
): string[] {
  return workers
    .filter(({ name, state, queues }) => state === 'ready' && queues.includes(queue) && !unfit.has(name))
    .map(({ name }) => name);
}

type Run = Pick<Ticketed, 'ticket' | 'history'>;

/** Whether a worker other than this one may have better cells for the run. */
export async function anotherMayFit({ live, name }: Worker, { ticket, history }: Run): Promise<boolean> {
  // If the workers can't be listed the run is tried again: the number of failures is bounded.
  const workers = await live.workers.all().catch(() => undefined);
  const unfit = unfitWorkers(history.attempts).add(name);
  return workers === undefined || fitWorkers(workers, ticket.queue, unfit).length > 0;
}

/** This worker's cells were found unfit for the run, and another worker may have it. */
export async function isForAnother(worker: Worker, run: Run): Promise<boolean> {
  return unfitWorkers(run.history.attempts).has(worker.name) && (await anotherMayFit(worker, run));
}

/** Whether the worker could begin such a run now, by its last heartbeat. */
export function hasRoom({ state, queues, capacity, used }: WorkerBeat, queue: string, needs: Needs): boolean {
  return (
    state === 'ready' &&
    queues.includes(queue) &&
    used.runs < capacity.runs &&
    used.cpus + Math.min(needs.cpus, capacity.cpus) <= capacity.cpus + 1e-9 &&
    used.memoryBytes + needs.memoryBytes <= capacity.memoryBytes
  );
}

/** Looks until another worker has the room that the run waits for here; false once `over` is aborted. */
export async function othersHaveRoom(
  { live, name, log }: Pick<Worker, 'live' | 'name' | 'log'>,
  queue: string,
  needs: Needs,
  over: AbortSignal,
): Promise<boolean> {
  for (;;) {
    await restUnlessAborted(lookEveryMs, over);
    if (over.aborted) return false;
    try {
      const workers = await live.workers.all();
      if (workers.some((worker) => worker.name !== name && hasRoom(worker, queue, needs))) return true;
    } catch (error) {
      log.debug({ error }, 'failed to list the other workers; trying again');
    }
  }
}
