import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** How long the tests of one mutant may take: one that hangs is noticed as well as one that fails. */
const unitMs = 240_000;
const systemMs = 300_000;

/** Whether these test files pass in this checkout. The first test that fails ends them all. */
export async function passes(root: string, files: readonly string[], kind: 'unit' | 'system'): Promise<boolean> {
  const flags = ['--disable-warning=ExperimentalWarning', '--test', '--test-reporter=dot', '--test-concurrency=2'];
  // A group of its own: test files start processes, and all of them have to go.
  const tests = spawn(process.execPath, [...flags, ...files], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const ended = once(tests, 'exit');
  const stop = () => {
    try {
      if (tests.pid !== undefined) process.kill(-tests.pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  };
  process.once('exit', stop);
  const late = setTimeout(stop, kind === 'unit' ? unitMs : systemMs);
  tests.stdout.setEncoding('utf8').on('data', (dots: string) => {
    if (dots.includes('X')) stop();
  });
  const [code] = (await ended) as [number | null];
  clearTimeout(late);
  process.off('exit', stop);
  stop();
  return code === 0;
}
