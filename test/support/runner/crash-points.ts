import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every step at which a process of ours can be made to die or sleep, from the code itself. */
export function namedCrashPoints(root: string): string[] {
  const files = globSync('{producer,executor-worker,notary,outside,record}/**/*.ts', { cwd: root });
  return files
    .flatMap((file) => [...readFileSync(join(root, file), 'utf8').matchAll(/crashPoint\('([^']+)'\)/g)])
    .flatMap(([, name]) => name ?? [])
    .toSorted();
}

/** How often each was reached in this run, by what the processes themselves said before they fell. */
function reachedCrashPoints(file: string): Map<string, { kill: number; stop: number }> {
  const reached = new Map<string, { kill: number; stop: number }>();
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const { crashPoint, how } = JSON.parse(line) as { crashPoint: string; how: 'kill' | 'stop' };
    const count = reached.get(crashPoint) ?? { kill: 0, stop: 0 };
    reached.set(crashPoint, { ...count, [how]: count[how] + 1 });
  }
  return reached;
}

/** The list for the report, and those at which nothing ever fell: a step that is not tried is a promise not proven. */
export function crashPointReport(root: string, file: string): { lines: string[]; never: string[] } {
  const reached = reachedCrashPoints(file);
  const named = namedCrashPoints(root);
  const lines = named.map((name) => {
    const { kill = 0, stop = 0 } = reached.get(name) ?? {};
    return `${name}: died ${kill}, slept ${stop}`;
  });
  return { lines, never: named.filter((name) => !reached.has(name)) };
}
