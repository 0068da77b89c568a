import { type ErrorCode, HotcellError } from '@hotcell/contract/errors.ts';
import type { Outcome } from '@hotcell/contract/result.ts';
import { exitCodes } from './fail.ts';

const platformFailed = 125;
export const interrupted = 130;

const ofOutcome: Readonly<Record<Outcome, number | undefined>> = {
  succeeded: undefined,
  failed: undefined,
  timed_out: 124,
  out_of_memory: 137,
  output_exceeded: 153,
  cancelled: interrupted,
  rejected: 126,
  lost: platformFailed,
};

/** The program's own where it ran and ended by itself. */
export function exitCodeOf(result: { outcome: Outcome; exitCode: number | null }): number {
  return ofOutcome[result.outcome] ?? result.exitCode ?? (result.outcome === 'succeeded' ? 0 : 1);
}

const ofError: Readonly<Partial<Record<ErrorCode, number>>> = {
  unauthenticated: exitCodes.notAllowed,
  forbidden: exitCodes.notAllowed,
  invalid: exitCodes.usage,
  too_large: exitCodes.usage,
  idempotency_mismatch: exitCodes.usage,
  policy_refused: 126,
  snapshot_refused: 126,
  not_found: exitCodes.error,
  finished_already: exitCodes.error,
};

/** Why a run could not even be asked for or followed: mine to correct, not mine to ask, refused, or the platform's. */
export function exitCodeOfFailure(error: unknown): number {
  return (error instanceof HotcellError ? ofError[error.code] : undefined) ?? platformFailed;
}
