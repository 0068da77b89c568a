import { type ErrorCode, HotcellError, type Issue } from '@hotcell/contract/errors.ts';
import { showIssues } from '@hotcell/contract/parse.ts';

/** A service that answers but lacks what Hotcell relies on: waiting does not help. */
export class Unfit extends HotcellError {}

export function refuseUnfit(code: ErrorCode, service: string, issues: readonly Issue[]): void {
  if (issues.length === 0) return;
  throw new Unfit(code, `${service} lacks what Hotcell relies on: ${showIssues(issues)}`, { issues });
}
