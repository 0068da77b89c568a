import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import type { Outcome } from '@hotcell/contract/outcomes.ts';
import type { Bed } from '../../support/bed.ts';
import { type Asked, mib, type Runs, type Runtime } from './runs.ts';

type Hostile = Omit<Asked, 'blocks' | 'beside'> & {
  tries: string;
  argv: readonly string[];
  outcome: Outcome;
  exitCode: number | null;
};
const sh = (script: string) => ['sh', '-c', script];
// Without site packages it starts in a tenth of the time.
const py = (script: string) => ['python3', '-S', '-E', '-c', script];
const deaf = `trap '' TERM; echo here; while :; do sleep 1000; done`;

/** Small hostile programs, and how the run of each must end. */
const programs: readonly Hostile[] = [
  {
    tries: 'to fork without end, and to leave all of them behind',
    argv: py(
      'import os,time\ntry:\n while os.fork() or os.setsid(): pass\n while True: time.sleep(9)\nexcept OSError: pass',
    ),
    outcome: 'succeeded',
    exitCode: 0,
  },
  {
    tries: 'to flood the log',
    argv: sh('head -c 4000000 /dev/zero; echo last >&2'),
    outcome: 'succeeded',
    exitCode: 0,
  },
  {
    tries: 'to flood the log where that ends the run',
    argv: sh('yes'),
    pastLimit: 'stop',
    outcome: 'output_exceeded',
    exitCode: null,
  },
  {
    tries: 'not to hear that its time is over',
    argv: sh(deaf),
    limits: { timeoutSeconds: 1 },
    outcome: 'timed_out',
    exitCode: null,
  },
  {
    tries: 'not to hear that it is cancelled',
    argv: sh(deaf),
    onRows: (_, stop) => stop.abort({ kind: 'cancelled', by: 'anna', reason: 'enough' }),
    outcome: 'cancelled',
    exitCode: null,
  },
  {
    tries: 'to have links and fifos collected',
    argv: sh('cd /outputs; ln -s /etc/passwd l; mkfifo f; echo x >a; ln a b; echo ok >c; chmod 0 c'),
    outcome: 'succeeded',
    exitCode: 0,
  },
  {
    tries: 'to take all memory',
    argv: py('x = [bytearray(b"x" * (4 << 20)) for _ in range(64)]'),
    limits: { memoryBytes: 48 * mib },
    outcome: 'out_of_memory',
    exitCode: null,
  },
  {
    tries: 'to leave a daemon that holds its output open',
    argv: sh('setsid sleep 1000 & exit 3'),
    outcome: 'failed',
    exitCode: 3,
  },
  {
    tries: 'to fill all scratch',
    argv: sh('for d in /tmp /work /dev/shm /outputs; do cat /dev/zero >$d/x; done 2>/dev/null; rm /outputs/x; exit 4'),
    outcome: 'failed',
    exitCode: 4,
  },
  {
    tries: 'to have too many outputs',
    argv: sh('i=0; while [ $i -lt 60 ]; do : >/outputs/$i; i=$((i+1)); done'),
    outcome: 'output_exceeded',
    exitCode: 0,
  },
  { tries: 'to end everybody', argv: sh('kill -9 -1; kill -9 $$'), outcome: 'failed', exitCode: 137 },
];

const short = { graceSeconds: 0, logBytes: 65_536, scratchBytes: 4 * mib, fileBytes: 8 * mib } as const;

/** What cells have left on this host and in the store. */
export async function leftOf(bed: Bed, runs: Runs): Promise<string[]> {
  const cells = (await runs.cells.list()).map((name) => `the cell ${name}`);
  // Where the engine makes them, the worker has a folder for each.
  const folders = (await readdir(join(runs.cells.stateDir, 'cells')).catch(() => [])).map(
    (name) => `the folder of the cell ${name}`,
  );
  const operator = bed.store('operator');
  const objects: string[] = [];
  for (const prefix of [`uploads/${runs.tenant}/`])
    for await (const { key } of operator.list(operator.work, prefix)) objects.push(`the object ${key}`);
  const half = (await operator.halfUploads(operator.record)).filter(({ key }) => key.includes(runs.tenant));
  return [...cells, ...folders, ...objects, ...half.map(({ key }) => `the half upload of ${key}`)];
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** The memory and the open descriptors of this process. */
export async function held(): Promise<{ bytes: number; descriptors: number }> {
  // What the first collection frees outside of the heap is no longer counted after the next.
  for (let turn = 0; turn < 3; turn++) {
    collectGarbage();
    await turnOfLoop();
  }
  const { heapUsed, external } = process.memoryUsage();
  return { bytes: heapUsed + external, descriptors: (await readdir('/proc/self/fd')).length };
}

/** Executes `count` hostile runs, four at a time, and checks how each ends. */
export async function hostileRuns(
  runs: Runs,
  { count, first = 0, runtimeOf }: { count: number; first?: number; runtimeOf: (n: number) => Runtime },
): Promise<void> {
  let next = first;
  const lane = async () => {
    while (next < first + count) {
      const n = next++;
      const { tries, argv, outcome, exitCode, limits, ...more } = programs[n % programs.length] as Hostile;
      const what = `run ${n} on ${runtimeOf(n)}, which tries ${tries}`;
      const { verdict } = await runs
        .run(runtimeOf(n), { ...more, blocks: [{ argv: [...argv] }], limits: { ...short, ...limits } })
        .catch((cause: unknown) => {
          throw new Error(`${what}: the platform failed`, { cause });
        });
      assert.deepEqual([verdict.outcome, verdict.exitCode], [outcome, exitCode], `${what}: ${verdict.reason}`);
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
}
