import { differencesOf } from '@hotcell/contract/evidence/json-differences.ts';
import { showIssues } from '@hotcell/contract/parse.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { recordKeys } from '../layout.ts';
import type { Asked } from './read-asked.ts';
import type { Look } from './verification.ts';
import { saysWhatWasAsked, wasExecuted } from './was-executed.ts';

/** Whether what was executed is what was asked, and what the pinned policy lets such a run have. */
export function verifyDecision(look: Look, result: Result, { spec, judged }: Asked): void {
  const { findings } = look;
  const key = recordKeys.result(result.tenant, result.run);
  if (wasExecuted(result)) verifyBasis(look, result);
  if (!spec || !saysWhatWasAsked(result)) return;
  const { policy, image, runtime, labels, requester } = spec;
  const inputs = spec.inputs.map(({ name, snapshot, locations }) => ({ name, snapshot, locations }));
  const asked = { policy, image, runtime, labels, requester, inputs, workspace: began(spec.workspace) };
  const said = { ...pick(result), inputs: result.inputs, workspace: began(beganWith(result)) };
  for (const { path, expected, found } of differencesOf(asked, said))
    findings.add('INCONSISTENT', `${key}: ${path}`, `${expected}, as asked`, found);
  if (!judged || !(result.limits || wasExecuted(result))) return;
  if (!judged.admitted) {
    findings.add(
      'INCONSISTENT',
      key,
      `a refusal: ${showIssues(judged.reasons)}`.slice(0, 300),
      'a run that was judged fit',
    );
    return;
  }
  if (!result.limits) return;
  for (const { path, expected, found } of differencesOf(judged.effective.limits, result.limits))
    findings.add('INCONSISTENT', `${key}: limits.${path}`, `${expected}, as the policy has it`, found);
}

/** What its workspace began with, as the result tells it. */
const beganWith = ({ workspace }: Result) =>
  workspace && { snapshot: workspace.before, locations: workspace.locations };

const began = (workspace: { snapshot: string; locations: string } | undefined) =>
  workspace ? { before: workspace.snapshot, locations: workspace.locations } : null;

/** A result that leaves out what its run is judged by would escape the judgement. */
function verifyBasis({ findings }: Look, result: Result): void {
  const key = recordKeys.result(result.tenant, result.run);
  for (const name of ['spec', 'policy', 'limits'] as const)
    if (result[name] === null)
      findings.add('INCONSISTENT', `${key}: ${name}`, `${name} to judge the run by, since it was executed`, 'none');
}

const pick = ({ policy, image, runtime, labels, requester }: Result) => ({ policy, image, runtime, labels, requester });
