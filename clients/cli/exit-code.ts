import { type ErrorCode, HotcellError } from '@hotcell/contract/errors.ts';
import { type Outcome, outcomeTable } from '@hotcell/contract/outcomes.ts';
import { exitCodes } from './fail.ts';

const platformFailed = 125;
export const interrupted = 130;

/** The program's own exit code if the program ran and ended by itself. */
export function exitCodeOf({ outcome, exitCode }: { outcome: Outcome; exitCode: number | null }): number {
  return outcomeTable[outcome].exitCode ?? exitCode ?? (outcome === 'succeeded' ? 0 : 1);
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

/** For a run that could not be submitted or followed: wrong usage, no permission, refused, or a failure of the platform. */
export function exitCodeOfFailure(error: unknown): number {
  return (error instanceof HotcellError ? ofError[error.code] : undefined) ?? platformFailed;
}
