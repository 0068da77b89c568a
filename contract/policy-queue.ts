import type { Policy } from './policy.ts';

/** The name of the queue for runs under this policy. */
export function queueOf({ runtime, worker }: Pick<Policy, 'runtime' | 'worker'>): string {
  return [runtime, ...new Set(worker.labels.toSorted())].join('-');
}
