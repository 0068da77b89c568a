import type { WorkerBeat } from '@hotcell/contract/heartbeats.ts';
import type { Attempt } from '@hotcell/contract/result.ts';
import type { Known } from '../publish/attempt-result.ts';
import type { Worker } from '../worker.ts';

/** Whose cells for this run were not what its policy says. */
export function unfit(attempts: readonly Pick<Attempt, 'worker' | 'error'>[]): Set<string> {
  return new Set(attempts.filter(({ error }) => error?.code === 'posture_differs').map(({ worker }) => worker));
}

/** Workers that could still make it a cell that is: they take its queue, and have not failed it so. Pure. */
export function fitWorkers(
  workers: readonly Pick<WorkerBeat, 'name' | 'state' | 'queues'>[],
  queue: string,
  without: ReadonlySet<string>,
): string[] {
  return workers
    .filter(({ name, state, queues }) => state === 'ready' && queues.includes(queue) && !without.has(name))
    .map(({ name }) => name);
}

/** Whether another worker than this one may have better cells for the run. */
export async function isElsewhere({ live, name }: Worker, { ticket, history }: Known): Promise<boolean> {
  // Not knowing who there is, it is tried again: the number of failures is bounded.
  const workers = await live.workers().catch(() => undefined);
  const without = unfit(history.attempts).add(name);
  return workers === undefined || fitWorkers(workers, ticket.queue, without).length > 0;
}

/** Its cells were found unfit for this run, and another worker is there: that one is to have it. */
export async function isForAnother(worker: Worker, known: Known): Promise<boolean> {
  return unfit(known.history.attempts).has(worker.name) && (await isElsewhere(worker, known));
}
