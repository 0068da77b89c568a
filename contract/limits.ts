import { z } from 'zod';
import { exactBytes } from './sizes.ts';

const mib = 1024 ** 2;
const gib = 1024 ** 3;
const week = 7 * 86_400;

export interface LimitRow {
  unit: 'seconds' | 'bytes' | 'cpus' | 'count';
  /** The hard floor and ceiling: no policy can go beyond them, so a slip in a policy stays inside what cells are tested with. */
  min: number;
  max: number;
  /** The file that turns the number into something the job runs into. */
  enforcedIn: string;
  help: string;
  /** The command line's option, without dashes. */
  option?: 'timeout' | 'memory' | 'cpus';
}

const bounds = 'executor-worker/cell/cell-bounds.ts';
const collector = 'executor-worker/outputs/output-collector.ts';

/**
 * Every limit of a run, once: schemas, policies, CLI options, OpenAPI and docs/reference.md are derived from this table.
 * To add one: add a row here and its value to `ground` in policy-merge.ts, enforce it in the file that the row names,
 * set it in policies/ (run policies/policy-schema.ts and test/docs/generate.ts) and cover it with a test in test/limits.
 */
const rows = {
  timeoutSeconds: {
    unit: 'seconds',
    min: 1,
    max: week,
    enforcedIn: bounds,
    help: 'time limit of the run, from the start of the first block',
    option: 'timeout',
  },
  blockTimeoutSeconds: {
    unit: 'seconds',
    min: 1,
    max: week,
    enforcedIn: 'executor-worker/execute/job.ts',
    help: 'time limit of one block',
  },
  graceSeconds: {
    unit: 'seconds',
    min: 0,
    max: 300,
    enforcedIn: bounds,
    help: 'time between SIGTERM and SIGKILL when a run is stopped',
  },
  memoryBytes: {
    unit: 'bytes',
    min: 32 * mib,
    max: 1024 * gib,
    enforcedIn: bounds,
    help: 'memory limit, without swap',
    option: 'memory',
  },
  cpus: {
    unit: 'cpus',
    min: 0.05,
    max: 256,
    enforcedIn: 'executor-worker/cell/options.ts',
    help: 'CPU limit, for example 1.5',
    option: 'cpus',
  },
  pids: { unit: 'count', min: 8, max: 32_768, enforcedIn: bounds, help: 'processes and threads at once' },
  // Hosts without CAP_SYS_RESOURCE cap the number of open files at 20,000.
  openFiles: { unit: 'count', min: 32, max: 16_384, enforcedIn: bounds, help: 'open files of one process' },
  fileBytes: { unit: 'bytes', min: 1, max: 1024 * gib, enforcedIn: bounds, help: 'size of one file' },
  logBytes: {
    unit: 'bytes',
    min: 0,
    max: 16 * gib,
    enforcedIn: 'executor-worker/execute/execute.ts',
    help: 'size of the log, stdout and stderr together',
  },
  outputBytes: { unit: 'bytes', min: 0, max: 256 * gib, enforcedIn: collector, help: 'size of all files in /outputs' },
  outputFiles: { unit: 'count', min: 0, max: 1_000_000, enforcedIn: collector, help: 'number of files in /outputs' },
  scratchBytes: {
    unit: 'bytes',
    min: 64 * 1024,
    max: 256 * gib,
    enforcedIn: bounds,
    help: 'size of /work, /tmp and /dev/shm, each',
  },
  scratchInodes: {
    unit: 'count',
    min: 16,
    max: 16_000_000,
    enforcedIn: bounds,
    help: 'number of files in /work, /tmp and /dev/shm, each',
  },
} as const satisfies Record<string, LimitRow>;

export type LimitName = keyof typeof rows;
export const limitTable: Readonly<Record<LimitName, LimitRow>> = rows;
export const limitNames = Object.keys(rows) as LimitName[];

/** One value for each limit, as an object's fields: `Object.fromEntries` forgets the names. */
export function forEachLimit<T>(make: (name: LimitName, row: LimitRow) => T): Record<LimitName, T> {
  return Object.fromEntries(limitNames.map((name) => [name, make(name, limitTable[name])])) as Record<LimitName, T>;
}

function schemaOf({ unit, min, help }: LimitRow) {
  const number = unit === 'cpus' ? z.number().positive() : z.number().int().min(Math.min(min, 1));
  return number.describe(help);
}

/** The effective limits of a run, as its result shows them. */
export const Limits = z.strictObject(forEachLimit((_name, row) => schemaOf(row)));
export type Limits = z.infer<typeof Limits>;

/** The limits that a request asks for: any of them, none needed. */
export const AskedLimits = Limits.partial();
export type AskedLimits = z.infer<typeof AskedLimits>;

export function isBytes(name: LimitName): boolean {
  return limitTable[name].unit === 'bytes';
}

/** A limit's value with its unit, exactly. */
export function showLimit(name: LimitName, value: number): string {
  const { unit } = limitTable[name];
  return unit === 'bytes' ? exactBytes(value) : unit === 'seconds' ? `${value} s` : String(value);
}
