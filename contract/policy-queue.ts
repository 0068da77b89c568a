import type { Policy } from './policy.ts';

/** The capability that a run under this policy needs: the name of its queue. */
export function queueOf({ runtime, worker }: Pick<Policy, 'runtime' | 'worker'>): string {
  return [runtime, ...new Set(worker.labels.toSorted())].join('-');
}
