import { collectMs } from '@hotcell/contract/cell-bounds.ts';
import { frameLimits, type JobLimits } from '@hotcell/contract/frames.ts';
import type { Limits } from '@hotcell/contract/limits.ts';
import { keptAtMost } from '@hotcell/contract/workspace.ts';
import type { CellPlan } from './cell-plan.ts';

/** From a run's limits to what init keeps by itself, and until when a cell can be of use. */

/** How long a cell may wait for its job before it ends itself. */
export const waitingMs = 10 * 60_000;

/** What is kept of /work, at most. */
type Kept = { bytes: number; files: number } | undefined;

/** For laying a workspace out: as long as reading it again may take. */
export const layOutMs = (kept: Kept) => (kept ? collectMs({ outputBytes: kept.bytes, outputFiles: kept.files }) : 0);

/** From START to init's own deadline, when it kills everything, whatever the host does. */
export function lifetimeMs(limits: Limits, kept?: Kept): number {
  return limits.timeoutSeconds * 1000 + limits.graceSeconds * 1000 + collectMs(limits) + 2 * layOutMs(kept);
}

/** From then on no run can use the cell, with a workspace or without: the reaper removes it, whatever init does. */
export function deadlineOf(limits: Limits, createdAt: Date): Date {
  return new Date(createdAt.getTime() + waitingMs + lifetimeMs(limits, keptAtMost(limits)) + 60_000);
}

export function jobLimitsOf(plan: Pick<CellPlan, 'limits' | 'log'>, kept?: Kept): JobLimits {
  const { limits, log } = plan;
  return {
    runMs: limits.timeoutSeconds * 1000,
    lifetimeMs: lifetimeMs(limits, kept),
    graceMs: limits.graceSeconds * 1000,
    logHeadBytes: log.headBytes,
    logTailBytes: log.tailBytes,
    logLimitEnds: log.pastLimit === 'stop',
    outputBytes: limits.outputBytes,
    outputFiles: limits.outputFiles,
    outputDepth: 32,
    outputPathBytes: frameLimits.pathBytes,
  };
}
