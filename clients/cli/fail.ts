import { HotcellError, type Issue, messageOf } from '@hotcell/contract/errors.ts';
import { showIssue } from '@hotcell/contract/parse.ts';
import { CommanderError } from 'commander';
import { visible, visibleLine } from './visible.ts';

export const exitCodes = { error: 1, usage: 2, notAllowed: 4 } as const;

/** The exit code of a failure, and its text for stderr. */
export function failureOf(error: unknown): { code: number; text: string } {
  // Commander has printed it already. Requested help is no failure; everything else is wrong usage.
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

/** The issues that the message does not name itself: of several equal ones, it names only one. */
function untold({ message, issues }: HotcellError): Issue[] {
  const alone = (issue: Issue) => issues.every((other) => other === issue || other.message !== issue.message);
  return issues.filter((issue) => !(message.includes(issue.message) && alone(issue)));
}
