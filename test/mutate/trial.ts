import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** How long the tests of one mutant may take: one that hangs is noticed as well as one that fails. */
const mostMs = { unit: 240_000, system: 300_000 } as const;
export type Kind = keyof typeof mostMs;

/** Whether a test file passes in this checkout. Its first test that fails ends it. `notes`: for what it executed. */
export async function passes(root: string, file: string, kind: Kind, notes?: string): Promise<boolean> {
  // A group of its own: test files start processes, and all of them have to go.
  const test = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--test-reporter=dot', file], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
    env: { ...process.env, NODE_V8_COVERAGE: notes ?? '' },
  });
  const ended = once(test, 'exit');
  const stop = () => {
    try {
      if (test.pid !== undefined) process.kill(-test.pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  };
  process.once('exit', stop);
  const late = setTimeout(stop, mostMs[kind]);
  test.stdout.setEncoding('utf8').on('data', (dots: string) => {
    if (dots.includes('X')) stop();
  });
  const [code] = (await ended) as [number | null];
  clearTimeout(late);
  process.off('exit', stop);
  stop();
  return code === 0;
}
