import { type Digest, hexOf } from '@hotcell/contract/digest.ts';
import { cellMemory, cellPids, rlimitsOf, type Tmpfs, tmpfsOf } from './cell-bounds.ts';
import type { CellContainer } from './cell-container.ts';
import { hostname } from './options.ts';

/** What the kernel must report inside a cell of this plan. */
export type ExpectedPosture = ReturnType<typeof expectedPosture>;

export function expectedPosture(
  made: Pick<CellContainer, 'plan' | 'uid' | 'options'>,
  env: Readonly<Record<string, string>>,
  machine: string,
  init: Digest,
) {
  const { plan, uid, options } = made;
  const host = options.HostConfig ?? {};
  const tmpfs: Readonly<Record<string, Tmpfs>> = tmpfsOf(plan.limits);
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
    tmpfs,
    /** Where files of the host are mounted, all of them read-only. */
    readOnly: (host.Mounts ?? []).map(({ Target }) => Target),
    masked: [...(host.MaskedPaths ?? []), ...(host.ReadonlyPaths ?? [])],
    initSha256: hexOf(init),
  };
}
