import type { LimitName } from '../limits.ts';

/** What stops a job at each limit, in a word that a reader of a statement can look up in the threat model. */
export const limitEnforcement: Readonly<Record<LimitName, string>> = {
  timeoutSeconds: 'cell-init ends the job; the worker ends the cell behind it',
  blockTimeoutSeconds: 'cell-init ends the block',
  graceSeconds: 'cell-init',
  memoryBytes: 'the cgroup of the cell, without swap',
  cpus: 'the cgroup of the cell',
  pids: 'the cgroup of the cell and RLIMIT_NPROC',
  openFiles: 'RLIMIT_NOFILE',
  fileBytes: 'RLIMIT_FSIZE',
  logBytes: 'cell-init cuts the log; the worker counts behind it',
  outputBytes: 'the worker counts; the size of the tmpfs stands behind it',
  outputFiles: 'the worker counts; the inodes of the tmpfs stand behind it',
  scratchBytes: 'the size of each tmpfs',
  scratchInodes: 'the inodes of each tmpfs',
};
