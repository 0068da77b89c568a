import { judgeSpec } from '@hotcell/contract/admission.ts';
import type { Explanation } from '@hotcell/contract/api/policies.ts';
import { limitNames } from '@hotcell/contract/limits.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Producer } from '../producer.ts';
import { specOf, viewOf } from '../view-run.ts';

/** Why a run was admitted or not, and where each of its limits comes from. */
export async function explainRun(producer: Producer, tenant: string, run: RunId): Promise<Explanation> {
  const view = await viewOf(producer, tenant, run);
  using found = await specOf(producer, view);
  if (!found) {
    const reasons = ('errors' in view ? view.errors : undefined) ?? [];
    const nothing = { revoked: null, warnings: [], runtime: null, queue: null, image: null, env: [], limits: [] };
    return { run, tenant, policy: view.policy, admitted: false, reasons, ...nothing };
  }
  const { spec } = found;
  const { policy, revoked } = await producer.pins.get(spec.policy.digest);
  const verdict = judgeSpec(spec, policy);
  const effective = verdict.admitted ? verdict.effective : undefined;
  return {
    run,
    tenant,
    policy: spec.policy,
    revoked: revoked ?? null,
    admitted: verdict.admitted,
    reasons: verdict.admitted ? [] : verdict.reasons,
    warnings: spec.warnings,
    runtime: policy.runtime,
    queue: effective?.queue ?? null,
    image: spec.image,
    env: Object.keys(spec.env),
    limits: limitNames.map((name) => ({
      name,
      asked: spec.limits[name] ?? null,
      ...policy.limits[name],
      effective: effective?.limits[name] ?? null,
    })),
  };
}
