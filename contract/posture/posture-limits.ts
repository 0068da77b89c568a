import { cpuPeriodUs, cpuQuotaUs } from '../cell-bounds.ts';
import type { ExpectedPosture } from './posture-expected.ts';
import type { Records } from './posture-inside.ts';

/** The limits of the cgroup, in either version's names. Under gVisor the cgroup is the sentry's own: not compared. */
export function* cgroupDifferences(records: Records<'cgroup'>, expected: ExpectedPosture): Generator<string> {
  if (expected.runtime === 'gvisor') return;
  const files = new Map(records.map(({ file, value }) => [file, value]));
  const wanted = files.has('memory.max') ? unified(expected) : hierarchies(expected);
  for (const [file, { value, optional }] of Object.entries(wanted)) {
    const found = files.get(file);
    if (found === undefined && optional) continue;
    if (found !== value) yield `${file} is ${found ?? 'untold'} and should be ${value}`;
  }
}

interface Wanted {
  value: string;
  /** Kernels that don't account for swap have no such file. */
  optional?: true;
}

function unified({ memoryBytes, pids, cpus }: ExpectedPosture): Record<string, Wanted> {
  return {
    'memory.max': { value: String(memoryBytes) },
    'memory.swap.max': { value: '0', optional: true },
    'cpu.max': { value: `${cpuQuotaUs(cpus)} ${cpuPeriodUs}` },
    'pids.max': { value: String(pids) },
  };
}

function hierarchies({ memoryBytes, pids, cpus }: ExpectedPosture): Record<string, Wanted> {
  return {
    'memory/memory.limit_in_bytes': { value: String(memoryBytes) },
    'memory/memory.memsw.limit_in_bytes': { value: String(memoryBytes), optional: true },
    'cpu/cpu.cfs_quota_us': { value: String(cpuQuotaUs(cpus)) },
    'cpu/cpu.cfs_period_us': { value: String(cpuPeriodUs) },
    'pids/pids.max': { value: String(pids) },
  };
}
