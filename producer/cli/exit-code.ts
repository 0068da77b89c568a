import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Outcome } from '@hotcell/contract/result.ts';
import { exitCodes } from './fail.ts';

export const platformFailed = 125;
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

/** Why a run could not even be asked for or followed: mine to correct, not mine to ask, refused, or the platform's. */
export function exitCodeOfFailure(error: unknown): number {
  if (!(error instanceof HotcellError)) return platformFailed;
  switch (error.code) {
    case 'unauthenticated':
    case 'forbidden':
      return exitCodes.notAllowed;
    case 'invalid':
    case 'too_large':
    case 'idempotency_mismatch':
      return exitCodes.usage;
    case 'policy_refused':
    case 'snapshot_refused':
      return ofOutcome.rejected ?? platformFailed;
    case 'not_found':
    case 'finished_already':
      return exitCodes.error;
    default:
      return platformFailed;
  }
}
