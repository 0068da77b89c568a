import type { Effective } from '@hotcell/contract/admission.ts';
import type { Limits } from '@hotcell/contract/limits.ts';
import type { Preload } from '@hotcell/contract/preload.ts';
import { budgetOf } from '../logs/window.ts';

/** A read-only folder or file of the host that a cell sees. */
export interface Mount {
  source: string;
  target: string;
}

/** The limits that init keeps for one job: they come with it. All others are part of what a cell is made of. */
type RunLimit = 'timeoutSeconds' | 'blockTimeoutSeconds' | 'graceSeconds' | 'logBytes';

/** A preload of the policy, and the command of the block for which it waits. */
export type PlannedPreload = Preload & { argv: readonly string[] };

/** What a cell is, whichever run it serves: cells of one class are alike. */
export interface CellClass {
  runtime: 'runc' | 'gvisor';
  image: { ref: string; digest: string };
  limits: Omit<Limits, RunLimit>;
  /** The image's own variables that the policy lets through. */
  imageEnv: readonly string[];
  /** The seccomp profiles that the policy pins: name (`runc-x86_64`) → digest of its text. */
  seccomp: Readonly<Record<string, string>>;
  /** What it loads while it waits. */
  preload?: PlannedPreload;
}

/** What a cell is given for one run. */
interface CellRun {
  run: string;
  attempt: number;
  limits: Pick<Limits, RunLimit>;
  /** How init keeps the log: this much of its start and of its end; `pastLimit` says whether more ends the run. */
  log: { headBytes: number; tailBytes: number; pastLimit: 'truncate' | 'stop' };
  mounts: readonly Mount[];
  /** The variables the policy lets the job set. */
  env: Readonly<Record<string, string>>;
}

/** What a cell is made from: what the policy lets this run have. Nothing else of the submitter's reaches the engine. */
export type CellPlan = Omit<CellClass, 'limits'> & Omit<CellRun, 'limits'> & { limits: Limits };

export function cellPlanOf(
  { run, attempt }: { run: string; attempt: number },
  { limits, runtime, image, env, imageEnv, logs, seccomp }: Effective,
  mounts: readonly Mount[],
  preload?: PlannedPreload,
): CellPlan {
  const log = { ...budgetOf(limits.logBytes), pastLimit: logs.pastLimit };
  return { run, attempt, runtime, image, limits, log, mounts, env, imageEnv, seccomp, ...(preload && { preload }) };
}
