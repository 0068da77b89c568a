import { HotcellError, type Issue, messageOf } from '@hotcell/contract/errors.ts';
import { showIssue } from '@hotcell/contract/parse.ts';
import { CommanderError } from 'commander';
import { visible, visibleLine } from './visible.ts';

export const exitCodes = { error: 1, usage: 2, notAllowed: 4 } as const;

/** What a failure means for whoever called: the exit code, and what is said about it on stderr. */
export function failureOf(error: unknown): { code: number; text: string } {
  // Commander has said it already: help that was asked for is no failure, everything else is wrong usage.
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? 0 : exitCodes.usage, text: '' };
  if (!(error instanceof HotcellError))
    return { code: exitCodes.error, text: `hotcell: ${visible(messageOf(error))}\n` };
  const lines = untold(error).map((issue) => `  ${visibleLine(showIssue(issue))}\n`);
  const denied = error.code === 'unauthenticated' || error.code === 'forbidden';
  return {
    code: denied ? exitCodes.notAllowed : exitCodes.error,
    text: `hotcell: ${visible(error.message)}\n${lines.join('')}`,
  };
}

/** What the message does not say itself. Where several things are wrong in the same way, it has named but one of them. */
function untold({ message, issues }: HotcellError): Issue[] {
  const alone = (issue: Issue) => issues.every((other) => other === issue || other.message !== issue.message);
  return issues.filter((issue) => !(message.includes(issue.message) && alone(issue)));
}
