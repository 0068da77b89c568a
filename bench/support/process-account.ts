import { readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/** The processor time of a process and of its children that have ended, in milliseconds, to the kernel's tick of 10. */
export function cpuOf(pid: number): number {
  const after = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ').slice(11, 15) ?? [];
  return (after.map(Number).reduce((sum, ticks) => sum + ticks, 0) * 1000) / ticksPerSecond;
}

export function residentOf(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) * 1024;
}
