import { admit } from '@hotcell/contract/admission.ts';
import type { WorkflowRequest } from '@hotcell/contract/api/workflows.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError, type Issue } from '@hotcell/contract/errors.ts';
import { showIssues } from '@hotcell/contract/parse.ts';
import { readRunRequest } from '@hotcell/contract/read-request.ts';
import { exactBytes } from '@hotcell/contract/sizes.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import { graphOf, judgeGraph, sourceOver, stepOf } from '@hotcell/contract/workflow-graph.ts';
import { type Workflow, workflowLimits, type WorkflowStep } from '@hotcell/contract/workflow.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import {
  markWorkflowOpen,
  putWorkflow,
  readWorkflow,
  readWorkflowEnd,
  type WorkflowAt,
} from '@hotcell/record/workflow-records.ts';
import { pinned, policyOf } from '../ask.ts';
import type { Caller } from '../auth/caller.ts';
import { claimMade, madeBefore } from '../keyed-request.ts';
import type { Producer } from '../producer.ts';
import { reasonOf } from '../snapshots/resolve-inputs.ts';
import { resolveInput } from '../snapshots/resolve.ts';
import { callbackKeysOf, judgeCallback } from '../webhooks/callbacks.ts';
import { judgeTaskRequest } from './task-request.ts';
import { confirmWorkflowSlot, requireFreeWorkflowSlot, takeWorkflowSlot } from './workflow-slots.ts';

const usualParallel = 16;

/**
 * Judges all steps as far as that can be before they begin, pins what they name, and promises the workflow. With a key,
 * what was made before stays made, whatever became of its policies and inputs since.
 */
export async function makeWorkflow(
  producer: Producer,
  caller: Caller,
  asked: WorkflowRequest,
  key: string | undefined,
): Promise<Workflow> {
  const { store } = producer;
  const { tenant } = caller;
  const steps = parsedSteps(producer, asked);
  const keyed = { of: 'workflow', tenant, key, request: { ...asked, steps } } as const;
  const before = await madeBefore(store, keyed);
  const standing = before && (await readWorkflow(store, { tenant, id: before.id }));
  if (standing) return await promiseAgain(producer, standing);
  await requireFreeWorkflowSlot(store, tenant);
  const policies = await judgeSteps(producer, caller, steps);
  const pinnedSteps = await withPinnedInputs(producer, tenant, steps);
  const { name, parallel = usualParallel, callback } = asked;
  const { id, at } = before ?? (await claimMade(store, keyed));
  crashPoint('workflow.named');
  const author = { key: caller.key, role: caller.role };
  return await begin(producer, {
    ...{ version: 1, tenant, id, name, at, author, parallel, steps: pinnedSteps, policies, given: {} },
    ...(callback !== undefined && { callback }),
  });
}

/** The mark comes first: once the definition stands, and is listed, a leader goes on with it, even if this process dies. */
export async function begin(producer: Producer, workflow: Workflow): Promise<Workflow> {
  const { store } = producer;
  const bytes = Buffer.byteLength(JSON.stringify(workflow));
  if (bytes > workflowLimits.bytes)
    throw new HotcellError(
      'too_large',
      `The workflow takes ${exactBytes(bytes)}, and ${exactBytes(workflowLimits.bytes)} are the most. Pass data and large code as inputs.`,
    );
  await takeWorkflowSlot(store, workflow);
  if (workflow.callback !== undefined) await callbackKeysOf(store, workflow.tenant);
  await promise(store, workflow);
  const stands = await putWorkflow(store, workflow);
  crashPoint('workflow.made');
  await tellLeader(producer, stands);
  return stands;
}

async function promise(store: Buckets, workflow: WorkflowAt): Promise<void> {
  await markWorkflowOpen(store, workflow);
  crashPoint('workflow.marked');
  await confirmWorkflowSlot(store, workflow);
}

/** It was made already. One that has ended is promised no more. */
async function promiseAgain(producer: Producer, workflow: Workflow): Promise<Workflow> {
  if (await readWorkflowEnd(producer.store, workflow)) return workflow;
  await promise(producer.store, workflow);
  await tellLeader(producer, workflow);
  return workflow;
}

async function tellLeader({ live, log }: Producer, { tenant, id }: Workflow): Promise<void> {
  await live.workflowChanged(tenant, id).catch((error: unknown) => {
    log.info({ workflow: id, error }, 'failed to tell the leader of a workflow; it finds it by itself');
  });
}

type Steps = Readonly<Record<string, WorkflowStep>>;

function parsedSteps(producer: Producer, asked: WorkflowRequest): Steps {
  const issues: Issue[] = judgeCallback(producer, asked.callback);
  const steps: Record<string, WorkflowStep> = {};
  for (const [name, { run, ...rules }] of Object.entries(asked.steps)) {
    const read = readRunRequest(run);
    if ('issues' in read) issues.push(...inStep(name, read.issues));
    else {
      issues.push(...inStep(name, judgeTaskRequest(read.request, rules)));
      steps[name] = { ...rules, run: read.request };
    }
  }
  if (issues.length === 0) issues.push(...judgeGraph(graphOf(steps)));
  if (issues.length > 0) throw invalid(issues);
  return steps;
}

const inStep = (name: string, issues: readonly Issue[]) =>
  issues.map(({ path, message }) => ({
    path: path.startsWith('(') ? `steps.${name}` : `steps.${name}.run.${path}`,
    message,
  }));

function invalid(issues: readonly Issue[]): HotcellError {
  return new HotcellError('invalid', `The workflow is invalid: ${showIssues(issues)}`, { issues });
}

/** Every reason of every step at once. */
async function judgeSteps(producer: Producer, caller: Caller, steps: Steps): Promise<Record<string, Digest>> {
  const reasons: Issue[] = [];
  const policies: Record<string, Digest> = {};
  for (const [name, { run }] of Object.entries(steps)) {
    const { policy, issues } = policyOf(producer, run);
    const verdict = policy && admit(run, policy.policy, caller, []);
    if (verdict?.admitted === false) issues.push(...verdict.reasons);
    if (policy && issues.length === 0) issues.push(...(await pinned(producer, policy)));
    reasons.push(...inStep(name, issues));
    if (policy) policies[name] = policy.digest;
  }
  if (reasons.length === 0) return policies;
  const message = `This workflow could not run: ${showIssues(reasons)}`;
  throw new HotcellError('policy_refused', message, { issues: reasons });
}

/** All steps see the same data, and a rerun sees it again. */
async function withPinnedInputs(
  producer: Producer,
  tenant: string,
  steps: Steps,
): Promise<Record<string, WorkflowStep>> {
  const issues: Issue[] = [];
  const known = new Map<string, string>();
  const pin = async (source: string, path: string): Promise<string> => {
    if (stepOf(source) !== undefined) return source;
    try {
      const found = known.get(source) ?? (await resolveInput(producer, tenant, source)).snapshot;
      known.set(source, found);
      return found;
    } catch (error) {
      issues.push(reasonOf(error, path));
      return source;
    }
  };
  const pinnedSteps: Record<string, WorkflowStep> = {};
  for (const [name, step] of Object.entries(steps)) {
    const inputs: Record<string, string> = {};
    for (const [input, source] of Object.entries(step.run.inputs ?? {}))
      inputs[input] = await pin(source, `steps.${name}.run.inputs.${input}`);
    const run: RunRequest = { ...step.run, ...(step.run.inputs && { inputs }) };
    const { over } = step;
    const [of, source] = sourceOver(over) ?? [];
    const pinnedOver = of && source !== undefined && { [of]: await pin(source, `steps.${name}.over.${of}`) };
    pinnedSteps[name] = { ...step, run, ...(over && pinnedOver && { over: { ...over, ...pinnedOver } }) };
  }
  if (issues.length > 0) throw invalid(issues);
  return pinnedSteps;
}
