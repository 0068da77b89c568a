import type { RunId } from '@hotcell/contract/names.ts';
import type { RunRequest, Spec } from '@hotcell/contract/spec.ts';
import type { Accepted } from './accept.ts';
import { ask } from './ask.ts';
import type { Caller } from './auth/caller.ts';
import type { Parts } from './parts.ts';
import { noSuchRun, specOf } from './view.ts';

/** The same request again, judged anew against the policy of today; a label says which run it repeats. */
export async function rerun(
  parts: Parts,
  { caller, run, latestInputs }: { caller: Caller; run: RunId; latestInputs: boolean },
): Promise<Accepted> {
  const spec = await specOf(parts, caller.tenant, run);
  if (!spec) throw noSuchRun(run);
  return await ask(parts, { body: requestOf(spec, latestInputs), caller });
}

function requestOf(spec: Spec, latestInputs: boolean): RunRequest {
  const source = (input: Spec['inputs'][number]) => (latestInputs && input.source) || input.snapshot;
  return {
    blocks: spec.blocks,
    files: spec.files,
    params: spec.params,
    policy: spec.policy.name,
    image: spec.image.ref,
    inputs: Object.fromEntries(spec.inputs.map((input) => [input.name, source(input)])),
    limits: spec.limits,
    env: spec.env,
    labels: { ...spec.labels, 'rerun-of': spec.run },
    priority: spec.priority,
    ...(spec.publish !== undefined && { publish: spec.publish }),
    ...(spec.retry !== undefined && { retry: spec.retry }),
  };
}
