import type { Issue } from '@hotcell/contract/errors.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { showIssues } from '@hotcell/contract/parse.ts';
import { commit, type CommitDeps } from '@hotcell/record/commit.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';

export interface Refused extends Pick<Result, 'tenant' | 'requester' | 'labels' | 'policy'> {
  /** Every reason at once. */
  reasons: readonly Issue[];
}

/** The refusal of a known caller is a record like any other: an id, an outcome, and why. */
export async function refuse(deps: CommitDeps, { reasons, ...asked }: Refused): Promise<Result> {
  const reason = `Refused: ${showIssues(reasons)}`;
  const of = { run: newRunId(), tenant: asked.tenant, spec: null };
  const ending = { outcome: 'rejected', reason, errors: reasons } as const;
  const result = { ...emptyResult(of, undefined, ending, new Date()), ...asked };
  await commit(deps, result);
  return result;
}
