import type { RunId } from '@hotcell/contract/names.ts';
import type { RunRequest, Spec } from '@hotcell/contract/spec.ts';
import { type Answered, ask } from './ask.ts';
import type { Caller } from './auth/caller.ts';
import type { Producer } from './producer.ts';
import { requestOf } from './policies/past.ts';
import { noSuchRun, specOf, viewOf } from './view-run.ts';

/** The same request again, judged anew against the policy of today; a label says which run it repeats. */
export async function rerun(
  producer: Producer,
  { caller, run, latestInputs }: { caller: Caller; run: RunId; latestInputs: boolean },
): Promise<Answered> {
  const spec = await specOf(producer, await viewOf(producer, caller.tenant, run));
  if (!spec) throw noSuchRun(run);
  const { policy } = await producer.pins.get(spec.policy.digest);
  // It is to run now, whenever the first one was to.
  const { notBefore: _, ...request } = requestOf(spec, policy);
  const inputs = latestInputs ? latestOf(spec) : request.inputs;
  return await ask(producer, { body: { ...request, inputs, labels: { ...spec.labels, 'rerun-of': run } }, caller });
}

/** What was named then, to be looked up again; what was an id stays that id. */
function latestOf(spec: Spec): RunRequest['inputs'] {
  return Object.fromEntries(spec.inputs.map((input) => [input.name, input.source ?? input.snapshot]));
}
