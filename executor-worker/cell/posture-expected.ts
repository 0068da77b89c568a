import { cellCpus, cellMemory, cellPids, rlimitsOf, type Tmpfs, tmpfsOf } from '@hotcell/contract/cell-bounds.ts';
import { hostname, maskedPaths, readonlyPaths } from '@hotcell/contract/cell-shape.ts';
import { type Digest, hexOf } from '@hotcell/contract/digest.ts';
import type { MadeCell } from './cell-maker.ts';

/** What the kernel must report inside a cell of this plan. */
export type ExpectedPosture = ReturnType<typeof expectedPosture>;

export function expectedPosture(
  made: Pick<MadeCell, 'plan' | 'uid' | 'readOnly'>,
  env: Readonly<Record<string, string>>,
  machine: string,
  init: Digest,
) {
  const { plan, uid, readOnly } = made;
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
    cpusSeen: cellCpus(plan.limits),
    tmpfs,
    /** Where files of the host are mounted, all of them read-only. */
    readOnly: [...readOnly],
    masked: [...maskedPaths, ...readonlyPaths],
    initSha256: hexOf(init),
  };
}
