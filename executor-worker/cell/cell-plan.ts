import type { Effective } from '@hotcell/contract/admission.ts';
import type { Limits } from '@hotcell/contract/limits.ts';
import { budgetOf } from '../logs/window.ts';

/** A read-only folder or file of the host that a cell sees. */
export interface Mount {
  source: string;
  target: string;
}

/** What a cell is made from: what the policy lets this run have. Nothing else of the submitter's reaches the engine. */
export interface CellPlan {
  run: string;
  attempt: number;
  runtime: 'runc' | 'gvisor';
  image: { ref: string; digest: string };
  limits: Limits;
  /** How init keeps the log: this much of its start and of its end; `pastLimit` says whether more ends the run. */
  log: { headBytes: number; tailBytes: number; pastLimit: 'truncate' | 'stop' };
  mounts: readonly Mount[];
  /** The variables the policy lets the job set, and the image's own variables that it lets through. */
  env: Readonly<Record<string, string>>;
  imageEnv: readonly string[];
  /** The seccomp profiles that the policy pins: name (`runc-x86_64`) → digest of its text. */
  seccomp: Readonly<Record<string, string>>;
}

export function cellPlanOf(
  { run, attempt }: { run: string; attempt: number },
  { limits, runtime, image, env, imageEnv, logs, seccomp }: Effective,
  mounts: readonly Mount[],
): CellPlan {
  const log = { ...budgetOf(limits.logBytes), pastLimit: logs.pastLimit };
  return { run, attempt, runtime, image, limits, log, mounts, env, imageEnv, seccomp };
}
