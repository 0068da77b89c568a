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

const bounds = 'contract/cell-bounds.ts';
const times = 'executor-worker/cell/cell-times.ts';
const collector = 'executor-worker/outputs/output-collector.ts';

const row = (
  unit: LimitRow['unit'],
  min: number,
  max: number,
  enforcedIn: string,
  help: string,
  option?: LimitRow['option'],
): LimitRow => ({ unit, min, max, enforcedIn, help, ...(option && { option }) });

/**
 * Every limit of a run, once: schemas, policies, CLI options, OpenAPI and docs/reference.md are derived from this table.
 * To add one: add a row here and its value to `ground` in policy-merge.ts, enforce it in the file that the row names,
 * set it in policies/ (run policies/policy-schema.ts and test/docs/generate.ts) and cover it with a test in test/limits.
 */
const rows = {
  timeoutSeconds: row('seconds', 1, week, times, 'time limit of the run, from the start of the first block', 'timeout'),
  blockTimeoutSeconds: row('seconds', 1, week, 'executor-worker/execute/job.ts', 'time limit of one block'),
  graceSeconds: row('seconds', 0, 300, times, 'time between SIGTERM and SIGKILL when a run is stopped'),
  memoryBytes: row('bytes', 32 * mib, 1024 * gib, bounds, 'memory limit, without swap', 'memory'),
  cpus: row('cpus', 0.05, 256, bounds, 'CPU limit, for example 1.5', 'cpus'),
  pids: row('count', 8, 32_768, bounds, 'processes and threads at once'),
  // Hosts without CAP_SYS_RESOURCE cap the number of open files at 20,000.
  openFiles: row('count', 32, 16_384, bounds, 'open files of one process'),
  fileBytes: row('bytes', 1, 1024 * gib, bounds, 'size of one file'),
  logBytes: row(
    'bytes',
    0,
    16 * gib,
    'executor-worker/execute/execute.ts',
    'size of the log, stdout and stderr together',
  ),
  outputBytes: row('bytes', 0, 256 * gib, collector, 'size of all files in /outputs'),
  outputFiles: row('count', 0, 1_000_000, collector, 'number of files in /outputs'),
  scratchBytes: row('bytes', 64 * 1024, 256 * gib, bounds, 'size of /work, /tmp and /dev/shm, each'),
  scratchInodes: row('count', 16, 16_000_000, bounds, 'number of files in /work, /tmp and /dev/shm, each'),
};

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
