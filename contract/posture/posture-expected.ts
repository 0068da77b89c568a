import { cellCpus, cellMemory, cellPids, rlimitsOf, type Tmpfs, tmpfsOf } from '../cell-bounds.ts';
import { type CellRuntime, hostname, maskedPaths, readonlyPaths } from '../cell-shape.ts';
import { type Digest, hexOf } from '../digest.ts';
import type { Limits } from '../limits.ts';

/** What the kernel must report inside a cell of this plan. */
export type ExpectedPosture = ReturnType<typeof expectedPosture>;

export function expectedPosture(
  made: { plan: { runtime: CellRuntime; limits: Limits }; uid: number; readOnly: readonly string[] },
  /** Unknown to those who were not there: an image's own variables are not in the record. */
  env: Readonly<Record<string, string>> | undefined,
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
