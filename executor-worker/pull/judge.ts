import { judge, type Effective } from '@hotcell/contract/admission.ts';
import { HotcellError, type Issue } from '@hotcell/contract/errors.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { PinnedPolicy } from '@hotcell/record/pinned-policies.ts';

/** The worker's own word about a spec: what the pinned policy makes of it, or every reason why it may not run. */
export function judgePinned({ policy, revoked }: PinnedPolicy, spec: Spec): Effective {
  const judged = judge(spec, policy);
  const issues: Issue[] = judged.admitted ? [] : [...judged.reasons];
  if (revoked)
    issues.unshift({
      path: 'policy',
      message: `this text of policy ${policy.name} was revoked at ${revoked.at}: ${revoked.reason}; submit the run again under another`,
    });
  if (judged.admitted && issues.length === 0) return judged.effective;
  const reasons = issues.map((issue) => `${issue.path}: ${issue.message}`).join('; ');
  throw new HotcellError('policy_refused', `the policy ${policy.name} does not let this run: ${reasons}`, { issues });
}
