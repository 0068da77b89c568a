import type { Policy } from './policy.ts';

type Runtime = Policy['runtime'];

const nameOf = (runtime: Runtime, labels: readonly string[]) => [runtime, ...labels.toSorted()].join('-');

/** The capability that a run under this policy needs: the name of its queue. */
export function queueOf(policy: Pick<Policy, 'runtime' | 'worker'>): string {
  return nameOf(policy.runtime, [...new Set(policy.worker.labels)]);
}

function subsetsOf(labels: readonly string[]): string[][] {
  return labels.reduce<string[][]>((sets, label) => [...sets, ...sets.map((set) => [...set, label])], [[]]);
}

/**
 * The queues that a worker takes from. One with labels is somebody's own: it takes only what asks for at least one of
 * them, and never the work that may run anywhere.
 */
export function queuesOf(runtimes: readonly Runtime[], labels: readonly string[]): string[] {
  const own = [...new Set(labels)];
  const sets = subsetsOf(own).filter((set) => set.length <= 3 && (own.length === 0 || set.length > 0));
  return runtimes.flatMap((runtime) => sets.map((set) => nameOf(runtime, set)));
}
