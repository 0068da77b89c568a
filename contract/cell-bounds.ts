import type { CellRuntime } from './cell-shape.ts';
import type { Rlimit, RlimitName } from './frames.ts';
import type { Limits } from './limits.ts';
import { pageBytes, roundedUp } from './page.ts';

/** From a run's limits to the numbers for the kernel and for what makes cells. */
interface Bounded {
  runtime: CellRuntime;
  limits: Limits;
}

const mib = 1024 * 1024;

/** gVisor's own kernel lives in the cell's memory as well: the job does not pay for it. */
const runtimeMemory = { runc: 0, gvisor: 64 * mib } as const;

/** For init, its collector and the child that takes the posture: the job can't use these up. */
const initProcesses = 16;

/** In whole pages, and never more than the limit: so the kernel rounds it. */
export function cellMemory(plan: Bounded, page = pageBytes): number {
  const bytes = plan.limits.memoryBytes + runtimeMemory[plan.runtime];
  return Math.max(page, bytes - (bytes % page));
}

/** The shim of a cell and what the kernel holds for it: outside the cell's own memory (docs/decisions/0085). */
const besideCell = 16 * mib;

/** What a cell takes of its host, and so of a worker's capacity: more than its job may use. */
export function cellTakes(plan: Bounded): { cpus: number; memoryBytes: number } {
  return { cpus: plan.limits.cpus, memoryBytes: cellMemory(plan) + besideCell };
}

/** What init takes of a cell that waits: measured, and rounded up (docs/decisions/0124). */
const waitingInit = 8 * mib;

/** What an interpreter with its libraries holds beside: measured, and rounded up (docs/decisions/0160). */
const preloaded = 96 * mib;

/** What a waiting cell takes: no job has touched its memory yet. */
export function waitingTakes({ runtime, preload }: Pick<Bounded, 'runtime'> & { preload?: unknown }): number {
  return runtimeMemory[runtime] + waitingInit + besideCell + (preload === undefined ? 0 : preloaded);
}

/** How many processors a job sees and begins on. Its quota is what limits it. */
export const cellCpus = ({ cpus }: Pick<Limits, 'cpus'>) => Math.ceil(cpus);

/**
 * On runc the cgroup's bound lies just above NPROC. Under gVisor each task of the job is one or two of the host's, and a
 * sandbox that can't have them dies: there the cgroup is only a backstop.
 */
export function cellPids(plan: Bounded): number {
  return plan.runtime === 'runc' ? plan.limits.pids + initProcesses : plan.limits.pids * 4 + 1024;
}

export interface Tmpfs {
  bytes: number;
  inodes: number;
  mode: string;
  exec: boolean;
}

const pages = (bytes: number) => Math.max(pageBytes, roundedUp(bytes, pageBytes));

/** Never a size or a number of inodes of 0, which would mean unlimited. */
export function tmpfsOf(limits: Limits): Readonly<Record<'/work' | '/outputs' | '/tmp' | '/dev/shm', Tmpfs>> {
  const scratch = { bytes: pages(limits.scratchBytes), inodes: limits.scratchInodes, mode: '1777', exec: false };
  return {
    '/work': { ...scratch, exec: true },
    // More than may be kept: so the collector, which can name the limit, finds the one file too many.
    '/outputs': {
      bytes: pages(limits.outputBytes) + mib,
      inodes: limits.outputFiles * 2 + 1024,
      mode: '1777',
      exec: false,
    },
    '/tmp': scratch,
    '/dev/shm': scratch,
  };
}

/** The limits that a process may set for itself under gVisor. For the others it answers EPERM: they are set from outside. */
const settableInGvisor: readonly RlimitName[] = ['nproc', 'nofile', 'fsize', 'memlock'];

/** What init sets on its children. */
export function settableRlimits(plan: Bounded): Rlimit[] {
  // The filter lets no process set CORE, so that is set from outside, too.
  const all = rlimitsOf(plan.limits).filter(({ name }) => name !== 'core');
  return plan.runtime === 'runc' ? all : all.filter(({ name }) => settableInGvisor.includes(name));
}

/** Of the job's processes. */
export function rlimitsOf(limits: Limits): Rlimit[] {
  return [
    { name: 'nproc', value: limits.pids },
    { name: 'nofile', value: limits.openFiles },
    { name: 'fsize', value: limits.fileBytes },
    // The kernel's word for no core at all. With 0 it writes none, but still pipes one where core_pattern says so.
    { name: 'core', value: 1 },
    { name: 'memlock', value: 0 },
    { name: 'msgqueue', value: 0 },
    { name: 'sigpending', value: Math.max(limits.pids, 256) },
    { name: 'rtprio', value: 0 },
    { name: 'nice', value: 0 },
  ];
}

/** Of a period of 100 ms, in microseconds: the shortest that the kernel takes is 1 ms. */
export const cpuPeriodUs = 100_000;
export const cpuQuotaUs = (cpus: number) => Math.max(1000, Math.round(cpus * cpuPeriodUs));

/** As mount options. */
export function tmpfsOptions({ exec, bytes, inodes, mode }: Tmpfs): string[] {
  return [exec ? 'exec' : 'noexec', 'nosuid', 'nodev', `size=${bytes}`, `nr_inodes=${inodes}`, `mode=${mode}`];
}

/** Init can't raise a limit, only lower it for its children. FSIZE and NPROC are for the job alone. */
export function initRlimits(limits: Limits): Rlimit[] {
  return rlimitsOf(limits).filter(({ name }) => name !== 'fsize' && name !== 'nproc');
}

/** Each output is a request to the store, and 16 are under way at once: a slow store answers in 160 ms. */
const outputMs = 10;

/** Time for collecting outputs: a slow store must not cost a finished run its outputs. */
export function collectMs({ outputBytes, outputFiles }: Pick<Limits, 'outputBytes' | 'outputFiles'>): number {
  return 120_000 + Math.ceil(outputBytes / 1024) + outputFiles * outputMs;
}
