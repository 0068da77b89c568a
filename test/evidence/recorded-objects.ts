import assert from 'node:assert/strict';
import { judgeSpec } from '@hotcell/contract/admission.ts';
import type { Effective } from '@hotcell/contract/admission.ts';
import { Policy } from '@hotcell/contract/policy.ts';
import { committedAttempt, type Result } from '@hotcell/contract/result.ts';
import { Spec } from '@hotcell/contract/spec.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import type { EditedRecord } from '../support/edited-record.ts';

/** Where everything stands that a run which succeeded left in the record or was executed with. */
export function placesOfRun(record: EditedRecord, result: Result) {
  const { tenant, run, inputs, outputs, posture } = result;
  const input = inputs[0] ?? assert.fail('no input');
  const attempt = committedAttempt(result) ?? assert.fail('no attempt was committed');
  const policy = recordKeys.policy(result.policy?.digest ?? assert.fail('no policy'));
  const { seccomp, packages } = judged(record, result).effective;
  const profile = Object.entries(seccomp).find(([name]) => name.startsWith('runc-'));
  const outputsOf = (i: number) => recordKeys.cas(tenant, outputs.files[i]?.sha256 ?? assert.fail(`no output ${i}`));
  return {
    spec: recordKeys.spec(tenant, run),
    result: recordKeys.result(tenant, run),
    evidence: result.evidence?.bundle ?? assert.fail('no evidence'),
    log: recordKeys.log(tenant, run, attempt),
    output: outputsOf(0),
    'other output': outputsOf(1),
    'list of outputs': recordKeys.manifest(tenant, outputs.snapshot ?? assert.fail('no outputs')),
    'list of inputs': recordKeys.manifest(tenant, input.snapshot),
    'map of inputs': recordKeys.locations(tenant, input.locations ?? assert.fail('no map')),
    policy,
    'list of the image': recordKeys.image(packages ?? assert.fail('no list of packages')),
    'seccomp profile': recordKeys.seccomp(profile?.[1] ?? assert.fail('no profile')),
    posture: recordKeys.posture(tenant, posture?.digest ?? assert.fail('no posture')),
  };
}
/** Where everything stands that the first step of a session left. */
export function placesOfStep(session: Result) {
  const { tenant, run } = session;
  const attempt = committedAttempt(session) ?? assert.fail('no attempt was committed');
  return {
    'record of a step': recordKeys.step(tenant, run, 0),
    'result of a step': recordKeys.stepResult(tenant, run, attempt, 0),
    'log of a step': recordKeys.stepPart(tenant, run, attempt, 0, 'log'),
    'thing that a step showed': recordKeys.stepPart(tenant, run, attempt, 0, 0),
  };
}

export type PlaceName = keyof ReturnType<typeof placesOfRun>;

/** What was asked, and what its policy lets it have. */
export function judged(record: EditedRecord, { tenant, run, policy }: Result): { spec: Spec; effective: Effective } {
  const spec = Spec.parse(JSON.parse(record.original(recordKeys.spec(tenant, run)).toString()));
  const text = record.original(recordKeys.policy(policy?.digest ?? assert.fail('no policy'))).toString();
  const admission = judgeSpec(spec, Policy.parse(JSON.parse(text)));
  assert.ok(admission.admitted);
  return { spec, effective: admission.effective };
}
