import { type Effective, judgeSpec } from '@hotcell/contract/admission.ts';
import { HotcellError, type Issue } from '@hotcell/contract/errors.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { showIssues } from '@hotcell/contract/parse.ts';
import type { PinnedPolicy } from '@hotcell/record/pinned-policies.ts';
import { newerThanThis, readKnownSpec } from '@hotcell/record/run-spec.ts';
import type { Judged, Specified, Ticketed } from '../stages.ts';
import type { Worker } from '../worker.ts';

export async function specify({ store }: Worker, ticketed: Ticketed): Promise<Specified> {
  const { tenant, run, spec } = ticketed.ticket;
  return { ...ticketed, at: 'specified', ...(await readKnownSpec(store, tenant, run, spec)) };
}

/** The worker judges for itself: it believes neither the producer's judgement nor the queue that the run was put into. */
export async function judgeRun({ steps }: Pick<Worker, 'steps'>, specified: Specified): Promise<Judged> {
  const effective = await steps.judge(specified.spec);
  const { queue } = specified.ticket;
  if (effective.queue !== queue)
    throw new HotcellError(
      'record_damaged',
      `The run was accepted for the queue ${queue}, but its policy requires ${effective.queue}. Submit it again.`,
    );
  return { ...specified, at: 'judged', effective };
}

/** What the pinned policy lets this run have; `policy_refused` with every reason if it may not run. */
export function judgePinned({ policy, revoked, unknown }: PinnedPolicy, spec: Spec): Effective {
  if (unknown.length > 0) throw newerThanThis(`The policy ${policy.name}`, unknown);
  const judged = judgeSpec(spec, policy);
  const issues: Issue[] = judged.admitted ? [] : [...judged.reasons];
  if (revoked)
    issues.unshift({
      path: 'policy',
      message: `this version of the policy ${policy.name} was revoked at ${revoked.at}: ${revoked.reason}. Submit the run again under another one`,
    });
  if (judged.admitted && issues.length === 0) return judged.effective;
  throw new HotcellError('policy_refused', `The policy ${policy.name} refuses this run: ${showIssues(issues)}`, {
    issues,
  });
}
