import { type Admission, admit } from '@hotcell/contract/admission.ts';
import type { Receipt } from '@hotcell/contract/evidence/receipt.ts';
import { parseRunRequest, parseSessionRequest } from '@hotcell/contract/read-request.ts';
import { HotcellError, type Issue } from '@hotcell/contract/errors.ts';
import { lockingPart } from '@hotcell/contract/retention.ts';
import type { SessionTerms } from '@hotcell/contract/session/session-terms.ts';
import type { AskedRun } from '@hotcell/contract/spec.ts';
import { type Acceptable, accept, earlier, hasBegun } from './accept.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import type { Caller } from './auth/caller.ts';
import type { Producer } from './producer.ts';
import type { LoadedPolicy } from '@hotcell/policies/load-policies.ts';
import { defaultPolicy, newRunId, type RunId } from '@hotcell/contract/names.ts';
import { showIssues } from '@hotcell/contract/parse.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { commit } from '@hotcell/record/commit.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { hashedForm } from '@hotcell/record/long-work.ts';
import { rowAccepted, rowFinished } from './readmodel/run-changes.ts';
import { withOthers } from './policies/other-policies.ts';
import { revokedError } from './policies/pin.ts';
import { callbackKeysOf, judgeCallback } from './webhooks/callbacks.ts';
import { reasonOf, type ResolvedInput, resolveInputs } from './snapshots/resolve-inputs.ts';
import { type ResolvedWorkspace, resolveWorkspace } from './snapshots/resolve-workspace.ts';

export interface Asked {
  /** As it came: nothing of it is believed yet. */
  body: unknown;
  caller: Caller;
  idempotencyKey?: string | undefined;
  /** Its blocks come later, as steps. */
  session?: boolean;
  /** Asked by a tick of a schedule or an item of a batch: the id of its run, and the policy that was pinned for it. */
  given?: { run: RunId; policy: Digest; untried?: boolean };
  /** An earlier run that stands for this one: nothing is accepted then. */
  reusable?: ((spec: Acceptable['spec']) => Promise<RunId | undefined>) | undefined;
}

export interface Answered {
  run: RunId;
  /** Advice about the code, early for its submitter. */
  warnings: readonly string[];
  /** The signed promise of this run. */
  receipt: Receipt | undefined;
}

/**
 * From a request to an accepted run: parse, resolve names to digests, judge, and only then promise. The refusal of a
 * known caller is recorded under an id too, and names every reason at once.
 */
export async function ask(producer: Producer, asked: Asked): Promise<Answered> {
  const request = asked.session ? parseSessionRequest(asked.body) : parseRunRequest(asked.body);
  const idempotency =
    asked.idempotencyKey === undefined
      ? undefined
      : { key: asked.idempotencyKey, body: (await hashedForm(request)).digest };
  // What was accepted stays accepted, whatever became of its policy and inputs since.
  const before = idempotency && (await earlier(producer, { tenant: asked.caller.tenant, ...idempotency }));
  if (before) return { ...before, warnings: [] };
  const { caller, given } = asked;
  const run = given?.run;
  const isThere = async () => run !== undefined && (await hasBegun(producer, { tenant: caller.tenant, run }));
  const asBefore = { run: run ?? '', warnings: [], receipt: undefined };
  if (!given?.untried && (await isThere())) return asBefore;
  const refuse = (policy: JudgedBy | undefined, reasons: readonly Issue[]) =>
    refusal(producer, { run, caller, request, policy, reasons });
  const { policy, issues: noPolicy } = given ? await pinnedBefore(producer, given.policy) : policyOf(producer, request);
  // Another leader may have had it accepted while this one was held up: what is accepted is refused no more.
  const standsAlready = async () => given?.untried === true && (await isThere());
  if (!policy) {
    if (await standsAlready()) return asBefore;
    throw await refuse(undefined, noPolicy);
  }
  // All that can be judged without the inputs comes before any work for them.
  const verdict = admit(request, policy.policy, caller, []);
  const { inputs, issues: noInputs } = await resolveInputs(producer, caller.tenant, request, policy.policy, verdict);
  const staged = { policy: policy.policy, verdict, inputs };
  const { workspace, issues: noWorkspace } = await resolveWorkspace(producer, caller.tenant, request, staged);
  const others = () => producer.policies.list().map((loaded) => loaded.policy);
  const judged = verdict.admitted ? [] : withOthers(verdict.reasons, request, others());
  const reasons = [...judged, ...tooLate(request), ...noInputs, ...noWorkspace];
  reasons.push(...tooWide(producer, caller, verdict), ...judgeCallback(producer, request.callback));
  if (reasons.length === 0 && !given) reasons.push(...(await pinned(producer, policy)));
  if (!verdict.admitted || reasons.length > 0) {
    if (await standsAlready()) return asBefore;
    throw await refuse(policy, reasons);
  }
  const { queue, limits } = verdict.effective;
  const spec = specOf(request, caller, policy, verdict, { inputs, workspace });
  const earlierRun = await asked.reusable?.(spec);
  if (earlierRun !== undefined) return { run: earlierRun, warnings: [], receipt: undefined };
  if (spec.callback !== undefined) await callbackKeysOf(producer.store, caller.tenant);
  const accepted = await accept(producer, { spec, queue, cpus: limits.cpus, idempotency, run });
  producer.specs.remember(accepted.spec);
  if (!accepted.already) producer.metrics.count('hotcell_runs_accepted_total');
  producer.model.note(rowAccepted(accepted.spec, queue));
  return { run: accepted.run, warnings: accepted.spec.warnings, receipt: accepted.receipt };
}

const mostDelayDays = 30;

/** A run that waits is kept, counted and looked at all that time. */
function tooLate({ notBefore }: AskedRun): Issue[] {
  if (notBefore === undefined || Date.parse(notBefore) - Date.now() <= mostDelayDays * 86_400_000) return [];
  const message = `A run can be delayed by at most ${mostDelayDays} days. Choose an earlier time, or submit it later.`;
  return [{ path: 'notBefore', message }];
}

/** It would wait for ever. */
function tooWide({ quotas }: Producer, { tenant }: Caller, verdict: Admission): Issue[] {
  const { limit } = quotas.of(tenant).runningCpus;
  if (!verdict.admitted || verdict.effective.limits.cpus <= limit) return [];
  const message = `The run would have ${verdict.effective.limits.cpus} CPUs, and the quota runningCpus of the tenant ${tenant} is ${limit}. Ask for fewer, or ask the operator for a higher quota.`;
  return [{ path: 'limits.cpus', message }];
}

type JudgedBy = Pick<LoadedPolicy, 'policy' | 'digest'>;

/** The text that was in force when the schedule was made or changed, whatever stands on disk now. */
async function pinnedBefore({ pins }: Producer, digest: Digest): Promise<{ policy?: JudgedBy; issues: Issue[] }> {
  const { policy, revoked } = await pins.get(digest);
  return revoked
    ? { issues: [reasonOf(revokedError(policy.name, revoked), 'policy')] }
    : { policy: { policy, digest }, issues: [] };
}

export function policyOf(
  producer: Pick<Producer, 'policies'>,
  request: AskedRun,
): { policy?: LoadedPolicy; issues: Issue[] } {
  try {
    return { policy: producer.policies.get(request.policy ?? defaultPolicy), issues: [] };
  } catch (error) {
    return { issues: [reasonOf(error, 'policy')] };
  }
}

/** Into the record goes what a run is judged by, before the run; a text that was revoked meanwhile is a reason too. */
export async function pinned(producer: Pick<Producer, 'pins'>, policy: JudgedBy): Promise<Issue[]> {
  try {
    await producer.pins.pin(policy);
    return [];
  } catch (error) {
    return [reasonOf(error, 'policy')];
  }
}

/** The refusal of a known caller is a record like any other: an id, an outcome, and every reason at once. */
async function refusal(
  producer: Producer,
  asked: {
    run: RunId | undefined;
    caller: Caller;
    request: AskedRun;
    policy: JudgedBy | undefined;
    reasons: readonly Issue[];
  },
): Promise<HotcellError> {
  const { run = newRunId(), caller, request, policy: loaded, reasons } = asked;
  const { tenant, key, role } = caller;
  const { labels = {} } = request;
  const of = { run, tenant, spec: null };
  const ending = { outcome: 'rejected', reason: `Refused: ${showIssues(reasons)}`, errors: reasons } as const;
  const policy = loaded ? { name: loaded.policy.name, digest: loaded.digest } : null;
  const result: Result = {
    ...emptyResult(of, undefined, ending, new Date()),
    requester: { key, role },
    labels,
    policy,
  };
  // What evidence names is in the record before the evidence.
  if (loaded) await producer.pins.keep(loaded);
  await commit(producer, result);
  producer.model.note(rowFinished(result));
  producer.metrics.count('hotcell_runs_refused_total');
  return new HotcellError('policy_refused', result.reason, { issues: reasons, extra: { run: result.run } });
}

const termsOf = ({ steps, idleSeconds }: SessionTerms): SessionTerms => ({ steps, idleSeconds });

const pinnedOf = ({ snapshot, locations, source }: ResolvedWorkspace) => ({ snapshot, locations, source });

/** What the record will say was asked: everything that could be pinned is a digest now. */
function specOf(
  request: AskedRun,
  { tenant, key, role }: Caller,
  { policy, digest }: JudgedBy,
  { effective, warnings }: Admission & { admitted: true },
  { inputs, workspace }: { inputs: readonly ResolvedInput[]; workspace: ResolvedWorkspace | undefined },
): Acceptable['spec'] {
  const {
    blocks,
    files = [],
    params = {},
    limits = {},
    labels = {},
    publish,
    workspacePublish,
    retry,
    notBefore,
    callback,
  } = request;
  const { image, runtime, env, priority } = effective;
  return {
    version: 1,
    tenant,
    requester: { key, role },
    blocks,
    files,
    params,
    policy: { name: policy.name, digest },
    image,
    runtime,
    inputs: inputs.map(({ name, snapshot, locations, source }) => ({ name, snapshot, locations, source })),
    limits,
    env: { ...env },
    labels,
    priority,
    publish,
    ...(workspace && { workspace: pinnedOf(workspace) }),
    ...(workspacePublish !== undefined && { workspacePublish }),
    retry,
    notBefore,
    callback,
    ...(effective.session && { mode: 'session', session: termsOf(effective.session) }),
    ...(policy.retention && { retention: lockingPart(policy.retention) }),
    warnings,
  };
}
