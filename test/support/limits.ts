import type { Limits } from '@hotcell/contract/limits.ts';

const mib = 1024 * 1024;

/** Limits that a run is not meant to reach. A test names only those that it is about. */
export const testLimits: Limits = {
  timeoutSeconds: 300,
  blockTimeoutSeconds: 300,
  graceSeconds: 2,
  memoryBytes: 1024 * mib,
  cpus: 2,
  pids: 128,
  openFiles: 1024,
  fileBytes: 512 * mib,
  logBytes: 4 * mib,
  outputBytes: 64 * mib,
  outputFiles: 1000,
  scratchBytes: 256 * mib,
  scratchInodes: 20_000,
};
