import { type JobLimits, type Rlimit, type RlimitName, frameLimits } from '@hotcell/contract/frames.ts';
import type { Limits } from '@hotcell/contract/limits.ts';
import type { CellPlan } from './cell-plan.ts';
import { pageBytes } from './page.ts';

/** From a run's limits to the numbers for the kernel, the engine and init. */

const mib = 1024 * 1024;

/** How long a cell may wait for its job before it ends itself. */
export const waitingMs = 10 * 60_000;

/** gVisor's own kernel lives in the cell's memory as well: the job does not pay for it. */
const runtimeMemory = { runc: 0, gvisor: 64 * mib } as const;

/** For init, its collector and the child that takes the posture: the job can't use these up. */
const initProcesses = 16;

/** In whole pages, and never more than the limit: so the kernel rounds it. */
export function cellMemory(plan: Pick<CellPlan, 'runtime' | 'limits'>, page = pageBytes): number {
  const bytes = plan.limits.memoryBytes + runtimeMemory[plan.runtime];
  return Math.max(page, bytes - (bytes % page));
}

/** The shim of a cell and what the kernel holds for it: outside the cell's own memory (docs/decisions/0085). */
const besideCell = 16 * mib;

/** What a cell takes of its host, and so of a worker's capacity: more than its job may use. */
export function cellTakes(plan: Pick<CellPlan, 'runtime' | 'limits'>): { cpus: number; memoryBytes: number } {
  return { cpus: plan.limits.cpus, memoryBytes: cellMemory(plan) + besideCell };
}

/** How many processors a job sees and begins on. Its quota is what limits it. */
export const cellCpus = ({ cpus }: Pick<Limits, 'cpus'>) => Math.ceil(cpus);

/**
 * On runc the cgroup's bound lies just above NPROC. Under gVisor each task of the job is one or two of the host's, and a
 * sandbox that can't have them dies: there the cgroup is only a backstop.
 */
export function cellPids(plan: Pick<CellPlan, 'runtime' | 'limits'>): number {
  return plan.runtime === 'runc' ? plan.limits.pids + initProcesses : plan.limits.pids * 4 + 1024;
}

export interface Tmpfs {
  bytes: number;
  inodes: number;
  mode: string;
  exec: boolean;
}

const pages = (bytes: number) => Math.max(pageBytes, Math.ceil(bytes / pageBytes) * pageBytes);

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
export function settableRlimits(plan: Pick<CellPlan, 'runtime' | 'limits'>): Rlimit[] {
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

/** Time for collecting outputs: a slow store must not cost a finished run its outputs. */
function collectMs(limits: Limits): number {
  return 120_000 + Math.ceil(limits.outputBytes / 1024);
}

/** From START to init's own deadline, when it kills everything, whatever the host does. */
function lifetimeMs(limits: Limits): number {
  return limits.timeoutSeconds * 1000 + limits.graceSeconds * 1000 + collectMs(limits);
}

/** From then on no run can use the cell: the reaper removes it, whatever init does. */
export function deadlineOf(limits: Limits, createdAt: Date): Date {
  return new Date(createdAt.getTime() + waitingMs + lifetimeMs(limits) + 60_000);
}

export function jobLimitsOf(plan: Pick<CellPlan, 'limits' | 'log'>): JobLimits {
  const { limits, log } = plan;
  return {
    runMs: limits.timeoutSeconds * 1000,
    lifetimeMs: lifetimeMs(limits),
    graceMs: limits.graceSeconds * 1000,
    logHeadBytes: log.headBytes,
    logTailBytes: log.tailBytes,
    logLimitEnds: log.pastLimit === 'stop',
    outputBytes: limits.outputBytes,
    outputFiles: limits.outputFiles,
    outputDepth: 32,
    outputPathBytes: frameLimits.pathBytes,
  };
}
