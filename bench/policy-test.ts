import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type Bench, median } from './support/row.ts';

const root = join(import.meta.dirname, '..');

function seconds(args: string[]): number {
  const begun = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return (performance.now() - begun) / 1000;
}

/** All shipped policy tests, with the start of the command line. Baseline: that start alone. */
export async function bench(bench: Bench): Promise<void> {
  const times = bench.quick ? 3 : 10;
  const started: number[] = [];
  const tested: number[] = [];
  for (let i = 0; i < times; i++) {
    started.push(seconds(['clients/cli/cli-main.ts', '--help']));
    tested.push(seconds(['clients/cli/cli-main.ts', 'policy', 'test']));
  }
  bench.row({ name: 'policy-test/start', value: median(started), unit: 's' });
  bench.target({ name: 'policy-test', value: median(tested), unit: 's', target: 1 });
}
