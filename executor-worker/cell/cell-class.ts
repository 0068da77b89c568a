import { canonical, type Digest, sha256 } from '@hotcell/contract/digest.ts';
import type { CellClass, CellPlan, Mount } from './cell-plan.ts';
import { lifetimeMs } from './cell-times.ts';

/** The class of a run's cell: its plan without what is the run's. */
export function classOf({ runtime, image, limits, imageEnv, seccomp, preload }: CellPlan): CellClass {
  const { timeoutSeconds: _time, blockTimeoutSeconds: _block, graceSeconds: _grace, logBytes: _log, ...own } = limits;
  return { runtime, image, limits: own, imageEnv, seccomp, ...(preload && { preload }) };
}

/** Names a class together with the init that its cells have. */
export function classKey({ imageEnv, ...rest }: CellClass, init: Digest): Digest {
  // The policy's list of variables says the same in any order.
  return sha256(canonical({ ...rest, imageEnv: imageEnv.toSorted(), init }));
}

/** What a waiting cell is made from: its class, and times that let it serve the runs which ask for it. */
export function waitingPlan(
  { runtime, image, limits, imageEnv, seccomp, preload }: Pick<CellPlan, keyof CellClass>,
  mounts: readonly Mount[],
): CellPlan {
  const log = { headBytes: 0, tailBytes: 0, pastLimit: 'stop' } as const;
  const own = { runtime, image, limits, imageEnv, seccomp, ...(preload && { preload }) };
  return { ...own, run: '', attempt: 0, log, mounts, env: {} };
}

/** Whether a cell that was made with these limits lives long enough for a run with those. */
export function outlasts(waiting: Pick<CellPlan, 'limits'>, run: Pick<CellPlan, 'limits'>): boolean {
  return lifetimeMs(waiting.limits) >= lifetimeMs(run.limits);
}
