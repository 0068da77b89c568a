import { type Digest, hexOf } from '@hotcell/contract/digest.ts';
import type { Rlimit } from '@hotcell/contract/frames.ts';
import type { CellPlan } from './cell-plan.ts';
import { cellMemory, cellPids, rlimitsOf, type Tmpfs, tmpfsOf } from './cell-bounds.ts';
import type { CellContainer } from './cell-container.ts';
import { hostname } from './options.ts';

/** What the kernel must report inside a cell of this plan. */
export interface ExpectedPosture {
  runtime: CellPlan['runtime'];
  machine: string;
  uid: number;
  env: Readonly<Record<string, string>>;
  hostname: string;
  rlimits: readonly Rlimit[];
  memoryBytes: number;
  pids: number;
  cpus: number;
  tmpfs: Readonly<Record<string, Tmpfs>>;
  /** Where files of the host are mounted, all of them read-only. */
  readOnly: readonly string[];
  masked: readonly string[];
  initSha256: string;
}

export function expectedPosture(
  made: Pick<CellContainer, 'plan' | 'uid' | 'options'>,
  env: Readonly<Record<string, string>>,
  machine: string,
  init: Digest,
): ExpectedPosture {
  const { plan, uid, options } = made;
  const host = options.HostConfig ?? {};
  return {
    runtime: plan.runtime,
    machine,
    uid,
    env,
    hostname,
    rlimits: rlimitsOf(plan.limits),
    memoryBytes: cellMemory(plan),
    pids: cellPids(plan),
    cpus: plan.limits.cpus,
    tmpfs: tmpfsOf(plan.limits),
    readOnly: (host.Mounts ?? []).map(({ Target }) => Target),
    masked: [...(host.MaskedPaths ?? []), ...(host.ReadonlyPaths ?? [])],
    initSha256: hexOf(init),
  };
}
