import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { CommanderError } from 'commander';

export const exitCodes = { error: 1, usage: 2, notAllowed: 4 } as const;

/** What a failure means for whoever called: the exit code, and what is said about it on stderr. */
export function failureOf(error: unknown): { code: number; text: string } {
  // Commander has said it already: help that was asked for is no failure, everything else is wrong usage.
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? 0 : exitCodes.usage, text: '' };
  if (!(error instanceof HotcellError)) return { code: exitCodes.error, text: `hotcell: ${messageOf(error)}\n` };
  const issues = error.issues.filter((issue) => !error.message.includes(issue.message));
  const lines = issues.map((issue) => `  ${issue.path}: ${issue.message}\n`);
  const denied = error.code === 'unauthenticated' || error.code === 'forbidden';
  return {
    code: denied ? exitCodes.notAllowed : exitCodes.error,
    text: `hotcell: ${error.message}\n${lines.join('')}`,
  };
}
