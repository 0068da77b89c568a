import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { must } from '@hotcell/setup/command.ts';
import type { Bed } from './bed.ts';
import { type Child, spawnNode } from './child.ts';
import type { House } from './house.ts';
import { pinPolicy, spawnWorker } from './real-worker.ts';

/** A kind of load: named jobs, and worker processes for them. */
export interface LoadKind {
  jobs: readonly string[];
  /** The job that runs until it is cancelled. */
  held: string;
  submit(job: string, key: string): Promise<string>;
  worker(name: string, env?: Readonly<Record<string, string>>): Promise<Child>;
  /** Cells that are left in the end. */
  left(): Promise<string[]>;
}

const echoes: Readonly<Record<string, string>> = {
  short: 'print hello',
  small: 'output something',
  failing: 'print a\noutput b\nexit 1',
  chatty: `print ${'long '.repeat(2000)}`,
  big: 'print hello\nbig 12000000',
  long: 'print begun\nlast 5000\noutput late',
  held: 'print begun\nhold',
};

/** Everything but the cell, so that hundreds of runs cost little. */
export function echoLoad(house: House): LoadKind {
  return {
    jobs: Object.keys(echoes),
    held: 'held',
    submit: async (job, key) => (await house.submit(echoes[job] ?? '', { key })).run,
    worker: async (name, env = {}) =>
      spawnNode('test/faults/victims/worker.ts', await house.settings('worker', { HOTCELL_WORKER_NAME: name, ...env })),
    left: () => Promise.resolve([]),
  };
}

const programs: Readonly<Record<string, string>> = {
  short: 'print("hello")',
  small: 'open("/outputs/a", "w").write("something")',
  failing: 'open("/outputs/b", "w").write("b"); raise SystemExit(1)',
  big: 'import os; print("hello"); open("/outputs/big", "wb").write(os.urandom(12_000_000))',
  long: 'import time; print("begun"); time.sleep(5); open("/outputs/late", "w").write("late")',
  held: 'import time; print("begun"); time.sleep(500)',
  // Tries to write as init, to kill init, and to outlive its block.
  hostile: `
import os, signal
for fd in (0, 1, 2):
    try: open(f"/proc/1/fd/{fd}", "wb", buffering=0).write(os.urandom(4096))
    except OSError: pass
for sign in (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP):
    try: os.kill(1, sign)
    except OSError: pass
for _ in range(2000):
    try:
        if os.fork() == 0:
            os.setsid()
            signal.pause()
    except OSError: break
`,
};

/** Real cells, made by worker processes as in production. */
export async function cellLoad(bed: Bed, house: House): Promise<LoadKind> {
  const real = await pinPolicy(bed, house, 'sealed');
  return {
    jobs: Object.keys(programs),
    held: 'held',
    submit: async (job, key) => {
      const spec = { ...real.spec, blocks: [{ language: 'python', code: programs[job] ?? '' }] };
      return (await house.submit(programs[job] ?? '', { spec, queue: real.queue, key })).run;
    },
    worker: (name, env) => spawnWorker(bed, house, name, env),
    left: async () => {
      const ours = ['--filter', `label=hotcell.installation=${house.id}`, '--filter', 'label=hotcell.role=cell'];
      return (await must(['docker', 'ps', '--all', ...ours, '--format', '{{.Names}}'])).split('\n').filter(Boolean);
    },
  };
}

const wrongClock = pathToFileURL(resolve(import.meta.dirname, '../faults/victims/wrong-clock.ts')).href;

/** The environment of a process whose clock is wrong by `ms`, from the start or, with `later`, from SIGUSR2 on. */
export function clockWrongBy(ms: number, later = false): Record<string, string> {
  const when: Record<string, string> = later ? { WRONG_CLOCK_LATER: '1' } : {};
  return { NODE_OPTIONS: `--import ${wrongClock}`, WRONG_CLOCK_MS: String(ms), ...when };
}
