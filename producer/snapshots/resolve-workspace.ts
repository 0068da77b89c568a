import { type Admission, judgeInputs } from '@hotcell/contract/admission.ts';
import { HotcellError, type Issue } from '@hotcell/contract/errors.ts';
import { ownFilesOf } from '@hotcell/contract/judge-workspace.ts';
import type { Policy } from '@hotcell/contract/policy.ts';
import type { AskedRun } from '@hotcell/contract/spec.ts';
import { emptyWorkspace, workspaceInput } from '@hotcell/contract/workspace.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { type KeptSnapshot, putSnapshot } from '@hotcell/record/snapshot-store.ts';
import { unfitWorkspace } from '@hotcell/record/workspace-diff.ts';
import type { ReadDeps } from '../freeze/read-object.ts';
import { resolveInput } from './resolve.ts';
import { reasonOf, type ResolvedInput, unheard } from './resolve-inputs.ts';
import { sourceForm } from './source.ts';

export type ResolvedWorkspace = KeptSnapshot & { source: string };
interface Resolved {
  workspace?: ResolvedWorkspace;
  issues: Issue[];
}

/**
 * The workspace of a request, pinned to a snapshot as its inputs are, and judged with them by the policy. Whether it fits
 * is judged only for a request that is admitted so far: its manifest may be long.
 */
export async function resolveWorkspace(
  deps: ReadDeps & { bulk: Buckets },
  tenant: string,
  request: AskedRun,
  { policy, verdict, inputs }: { policy: Policy; verdict: Admission; inputs: readonly ResolvedInput[] },
): Promise<Resolved> {
  const { workspace: source, blocks, files = [] } = request;
  if (source === undefined) return { issues: [] };
  if (!verdict.admitted && verdict.rules.some((rule) => unheard.has(rule))) return { issues: [] };
  try {
    const kept = await pin(deps, tenant, source, verdict.admitted);
    if (!kept) return { issues: [] };
    const all = [...inputs, { name: workspaceInput, ...kept }];
    const issues = judgeInputs(policy, all).map(({ message }) => ({ path: 'workspace', message }));
    if (issues.length > 0 || !verdict.admitted) return { issues };
    const { limits } = verdict.effective;
    const own = ownFilesOf({ blocks, files }, policy);
    const of = { own, limits, policy: { name: policy.name, limits: policy.limits } };
    issues.push(...(await unfitWorkspace(deps.bulk, tenant, kept.snapshot, of)));
    return issues.length > 0 ? { issues } : { workspace: { ...kept, source }, issues };
  } catch (error) {
    return { issues: [reasonOf(error, 'workspace')] };
  }
}

/** Undefined for what only a request that is admitted so far may have written. */
async function pin(
  deps: ReadDeps & { bulk: Buckets },
  tenant: string,
  source: string,
  mayWrite: boolean,
): Promise<KeptSnapshot | undefined> {
  if (source === emptyWorkspace)
    return mayWrite ? await putSnapshot(deps.store, tenant, [], { source, by: 'run' }) : undefined;
  const form = sourceForm(source);
  if (form.kind === 's3')
    throw new HotcellError(
      'invalid',
      'A workspace is a snapshot, and this is a bucket. Freeze it first: POST /v1/snapshots.',
    );
  if (form.kind === 'outputs' && !mayWrite) return undefined;
  try {
    return await resolveInput({ ...deps, store: deps.bulk }, tenant, source);
  } catch (error) {
    if (!(form.kind === 'name' && error instanceof HotcellError && error.code === 'not_found')) throw error;
    const how = `To begin with nothing, write ${emptyWorkspace}; with workspacePublish the end gets a name.`;
    throw new HotcellError('not_found', `${error.message} ${how}`, { cause: error });
  }
}
