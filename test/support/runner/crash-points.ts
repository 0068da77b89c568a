import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every crash point in the sources. */
export function namedCrashPoints(root: string): string[] {
  const files = globSync('{producer,executor-worker,notary,outside,record}/**/*.ts', { cwd: root });
  return files
    .flatMap((file) => [...readFileSync(join(root, file), 'utf8').matchAll(/crashPoint\('([^']+)'\)/g)])
    .flatMap(([, name]) => name ?? [])
    .toSorted();
}

/** How often each was reached in this run, as noted by the tests' processes. */
function reachedCrashPoints(file: string): Map<string, { kill: number; stop: number }> {
  const reached = new Map<string, { kill: number; stop: number }>();
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const { crashPoint, how } = JSON.parse(line) as { crashPoint: string; how: 'kill' | 'stop' };
    const count = reached.get(crashPoint) ?? { kill: 0, stop: 0 };
    reached.set(crashPoint, { ...count, [how]: count[how] + 1 });
  }
  return reached;
}

/** The lines of the report, and the crash points that no test reached: those prove nothing. */
export function crashPointReport(root: string, file: string): { lines: string[]; never: string[] } {
  const reached = reachedCrashPoints(file);
  const named = namedCrashPoints(root);
  const lines = named.map((name) => {
    const { kill = 0, stop = 0 } = reached.get(name) ?? {};
    return `${name}: died ${kill}, slept ${stop}`;
  });
  return { lines, never: named.filter((name) => !reached.has(name)) };
}
