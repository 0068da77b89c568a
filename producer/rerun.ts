import type { RerunRequest } from '@hotcell/contract/api/runs.ts';
import { HotcellError, type Issue } from '@hotcell/contract/errors.ts';
import { type RunId, SnapshotName } from '@hotcell/contract/names.ts';
import type { RunRequest, Spec } from '@hotcell/contract/spec.ts';
import { type Answered, ask } from './ask.ts';
import type { Caller } from './auth/caller.ts';
import type { Producer } from './producer.ts';
import { requestOf } from './policies/past.ts';
import { sourceForm } from './snapshots/source.ts';
import { requireSpec, specOf, viewOf } from './view-run.ts';

/** The same request again, judged anew against the policy of today; a label says which run it repeats. */
export async function rerun(
  producer: Producer,
  { caller, run, asked }: { caller: Caller; run: RunId; asked: RerunRequest },
): Promise<Answered> {
  using found = requireSpec(run, await specOf(producer, await viewOf(producer, caller.tenant, run)));
  const { spec } = found;
  const { policy } = await producer.pins.get(spec.policy.digest);
  // It is to run now, whenever the first one was to.
  const { notBefore: _, retry, blocks, ...request } = requestOf(spec, policy);
  const runs = spec.session ? {} : { retry, blocks };
  if (asked.exactly) return await reproduce(producer, { caller, spec, request: { ...request, retry, blocks }, asked });
  const inputs = { ...(asked.latestInputs ? latestOf(spec, asked.inputs) : request.inputs), ...asked.inputs };
  const params = asked.params ? replaced(spec.params, asked.params) : request.params;
  const workspace = asked.latestInputs ? latestWorkspace(spec) : request.workspace;
  return await ask(producer, {
    body: { ...request, ...runs, inputs, workspace, params, labels: { ...spec.labels, 'rerun-of': run } },
    caller,
    session: spec.session !== undefined,
  });
}

/**
 * The same code and snapshots under the very policy of then, which names the image by its digest. A policy that was
 * changed since may allow less on purpose: what it replaced is not used again.
 */
async function reproduce(
  producer: Producer,
  { caller, spec, request, asked }: { caller: Caller; spec: Spec; request: RunRequest; asked: RerunRequest },
): Promise<Answered> {
  if (asked.latestInputs || asked.inputs || asked.params)
    throw new HotcellError('invalid', 'A run is repeated exactly, or with other inputs and params: not both at once.');
  if (spec.session)
    throw new HotcellError(
      'invalid',
      `Run ${spec.run} was a session: its steps came while it went on, and no spec has them.`,
    );
  const { name, digest } = spec.policy;
  const now = producer.policies.get(name).digest;
  if (now !== digest)
    throw new HotcellError(
      'policy_refused',
      `The policy ${name} was changed since: run ${spec.run} was judged by ${digest}, and today it is ${now}. POST /v1/runs/${spec.run}/rerun judges it by the policy of today.`,
    );
  // A repetition moves no name.
  const { publish: _, workspacePublish: __, ...same } = request;
  return await ask(producer, { body: { ...same, labels: { ...spec.labels, 'reproduction-of': spec.run } }, caller });
}

/** What was named then, to be looked up again. An id has no newer version: old data in silence would be worse than a refusal. */
function latestOf(spec: Spec, replacing: RunRequest['inputs'] = {}): Record<string, string> {
  const kept = spec.inputs.filter(({ name }) => !Object.hasOwn(replacing, name));
  const issues = kept.flatMap(({ name, source }): Issue[] =>
    source !== undefined && !['id', 'version'].includes(sourceForm(source).kind)
      ? []
      : [
          {
            path: `inputs.${name}`,
            message:
              'was given as a snapshot id, a version of a name, an uploaded folder or a file, which has no newer version. Name its new data in "inputs"',
          },
        ],
  );
  if (issues.length > 0)
    throw new HotcellError(
      'invalid',
      `The latest inputs are not known: ${issues.map(({ path }) => path).join(', ')}.`,
      { issues },
    );
  return Object.fromEntries(kept.map(({ name, source, snapshot }) => [name, source ?? snapshot]));
}

/** Where its name points now, which may be what this very run left. One that was given by its id has no newer version. */
function latestWorkspace({ workspace }: Spec): string | undefined {
  const { source, snapshot } = workspace ?? {};
  return source !== undefined && SnapshotName.safeParse(source).success ? source : snapshot;
}

function replaced(params: Spec['params'], by: NonNullable<RerunRequest['params']>): Spec['params'] {
  if (typeof params === 'object' && params !== null && !Array.isArray(params)) return { ...params, ...by };
  throw new HotcellError(
    'invalid',
    'The params of this run are not an object, so none of them can be replaced. Submit a new run.',
  );
}
