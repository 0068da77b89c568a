import { differencesOf } from '@hotcell/contract/evidence/json-differences.ts';
import { showIssues } from '@hotcell/contract/parse.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { recordKeys } from '../layout.ts';
import type { Asked } from './read-asked.ts';
import type { Look } from './verification.ts';

/** Whether what was executed is what was asked, and what the pinned policy lets such a run have. */
export function verifyDecision({ findings }: Look, result: Result, { spec, judged }: Asked): void {
  if (!spec || !result.policy) return;
  const key = recordKeys.result(result.tenant, result.run);
  const { policy, image, runtime, labels, requester } = spec;
  const inputs = spec.inputs.map(({ name, snapshot, locations }) => ({ name, snapshot, locations }));
  const said = { ...pick(result), inputs: result.inputs };
  for (const { path, expected, found } of differencesOf({ policy, image, runtime, labels, requester, inputs }, said))
    findings.add('INCONSISTENT', `${key}: ${path}`, `${expected}, as asked`, found);
  if (!judged || !result.limits) return;
  if (!judged.admitted) {
    findings.add(
      'INCONSISTENT',
      key,
      `a refusal: ${showIssues(judged.reasons)}`.slice(0, 300),
      'a run that was judged fit',
    );
    return;
  }
  for (const { path, expected, found } of differencesOf(judged.effective.limits, result.limits))
    findings.add('INCONSISTENT', `${key}: limits.${path}`, `${expected}, as the policy has it`, found);
}

const pick = ({ policy, image, runtime, labels, requester }: Result) => ({ policy, image, runtime, labels, requester });
