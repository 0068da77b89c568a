import { type ErrorCode, HotcellError, type Issue, messageOf } from '@hotcell/contract/errors.ts';
import { type Outcome, outcomeTable } from '@hotcell/contract/outcomes.ts';
import { showIssue } from '@hotcell/contract/parse.ts';
import { CommanderError } from 'commander';
import { inCommands } from './in-commands.ts';
import { visibleLine } from './visible.ts';
import { voiced } from './voice.ts';

const exitCodes = { error: 1, usage: 2, notAllowed: 4 } as const;
const platformFailed = 125;
export const interrupted = 130;
/** Of `verify`: not all of the evidence is valid. */
export const unverified = 3;
/** The run goes on without this command: EX_TEMPFAIL of sysexits.h, so that it differs from a cancelled run. */
export const detached = 75;

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
  erased: exitCodes.error,
};

/** For a run that could not be submitted or followed: wrong usage, no permission, refused, or a failure of the platform. */
export function exitCodeOfFailure(error: unknown): number {
  return (error instanceof HotcellError ? ofError[error.code] : undefined) ?? platformFailed;
}

/** The exit code of a failure, and its text for stderr. */
export function failureOf(error: unknown): { code: number; text: string } {
  // Commander has printed it already. Requested help is no failure; everything else is wrong usage.
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? 0 : exitCodes.usage, text: '' };
  if (!(error instanceof HotcellError)) return { code: exitCodes.error, text: voiced('error', messageOf(error)) };
  const lines = untold(error).map((issue) => `  ${visibleLine(inCommands(showIssue(issue)))}\n`);
  const denied = error.code === 'unauthenticated' || error.code === 'forbidden';
  return {
    code: denied ? exitCodes.notAllowed : exitCodes.error,
    text: voiced('error', inCommands(error.message)) + lines.join(''),
  };
}

/** The issues that the message does not name itself: of several equal ones, it names only one. */
function untold({ message, issues }: HotcellError): Issue[] {
  const alone = (issue: Issue) => issues.every((other) => other === issue || other.message !== issue.message);
  return issues.filter((issue) => !(message.includes(issue.message) && alone(issue)));
}
