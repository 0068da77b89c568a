import { admit } from '@hotcell/contract/admission.ts';
import type { PolicyTrial } from '@hotcell/contract/api/policies.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Policy } from '@hotcell/contract/policy.ts';
import type { AskedRun, Spec } from '@hotcell/contract/spec.ts';
import type { Producer } from '../producer.ts';
import { specOf, viewOf } from '../view-run.ts';

/** What was asked, from the spec that was kept: the image by the name that its policy had for it. */
export function requestOf(spec: Spec, judgedBy: Policy): AskedRun {
  const image = judgedBy.images.find(({ digest }) => digest === spec.image.digest)?.name ?? spec.image.ref;
  const { blocks, files, params, limits, env, labels, priority, publish, workspacePublish, retry, notBefore } = spec;
  const inputs = Object.fromEntries(spec.inputs.map((input) => [input.name, input.snapshot]));
  const session = spec.session && { session: spec.session };
  const workspace = spec.workspace && { workspace: spec.workspace.snapshot, workspacePublish };
  const asked = { ...session, blocks, files, params, limits, env, labels, priority, publish, retry, notBefore };
  return { ...asked, ...workspace, policy: spec.policy.name, image, inputs };
}

const page = 200;

/**
 * Which of the runs since then, under the policy of this name, would be refused by this text. The sizes of inputs are
 * not looked up again: a manifest may be as long as the data.
 */
export async function pastUnder(producer: Producer, tenant: string, policy: Policy, since: Date): Promise<PolicyTrial> {
  const past: PolicyTrial = { looked: 0, refused: [] };
  let before: string | undefined;
  for (;;) {
    const rows = await producer.model.list(tenant, { labels: [], since, before, limit: page });
    for (const { run, policy: name } of rows) {
      using found = name === policy.name ? await keptSpec(producer, tenant, run) : undefined;
      if (!found) continue;
      const { spec } = found;
      past.looked++;
      const { policy: judgedBy } = await producer.pins.get(spec.policy.digest);
      const verdict = admit(requestOf(spec, judgedBy), policy, spec.requester, []);
      if (!verdict.admitted) past.refused.push({ run, reasons: verdict.reasons });
    }
    before = rows.at(-1)?.run;
    if (rows.length < page || before === undefined) return past;
  }
}

/** Of a run that was erased, nothing is left that could be judged again. */
async function keptSpec(producer: Producer, tenant: string, run: RunId) {
  try {
    return await specOf(producer, await viewOf(producer, tenant, run));
  } catch (error) {
    if (error instanceof HotcellError && error.code === 'erased') return undefined;
    throw error;
  }
}
