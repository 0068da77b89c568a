import { computedPart } from '@hotcell/contract/computed-part.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { TaskFacts, WorkflowAct } from '@hotcell/contract/workflow-decide.ts';
import type { TaskRecord, WorkflowStep } from '@hotcell/contract/workflow.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { whyErased } from '@hotcell/record/erasures.ts';
import { hashedForm } from '@hotcell/record/long-work.ts';
import { readOpenMarker } from '@hotcell/record/run-marks.ts';
import { putSnapshot } from '@hotcell/record/snapshot-store.ts';
import { putTaskRecord, readReusable, readTaskRecord, readWorkflow } from '@hotcell/record/workflow-records.ts';
import { type Acceptable } from '../accept.ts';
import { ask } from '../ask.ts';
import type { Caller } from '../auth/caller.ts';
import type { Producer } from '../producer.ts';
import { type FanItem, type KnownWorkflow, taskRunId } from './known-workflow.ts';
import { partitionOf } from './step-partitions.ts';
import { sourcesOf } from './task-inputs.ts';
import { taskRequest } from './task-request.ts';

type Start = Extract<WorkflowAct, { do: 'start' }>;

/** What became of the task before this leader: a run that ended or goes on, or one that stands for it. */
export async function findTask(producer: Producer, known: KnownWorkflow, task: string): Promise<TaskFacts | undefined> {
  const { store, news } = producer;
  const { tenant, id, given } = known;
  const taken = given[task];
  if (taken) return await standingIn(producer, tenant, taken);
  const run = taskRunId(id, task);
  const result = await news.resultOf(tenant, run);
  if (result) return { run, outcome: result.outcome, ...(result.outcome === 'rejected' && { refused: result.reason }) };
  const record = await readTaskRecord(store, { tenant, id }, task);
  if (record) return await factsOf(producer, record);
  return (await readOpenMarker(store, tenant, run)) ? { run } : undefined;
}

/** Has the task's run accepted, once, whichever leader asks: its id follows from workflow and task. */
export async function startTask(
  producer: Producer,
  known: KnownWorkflow,
  caller: Caller,
  start: Start,
): Promise<TaskFacts> {
  const { tenant, id, policies } = known;
  // What another leader accepts at the same moment has the same id: accepting it twice is accepting it once.
  const untried = known.surveyed && known.given[start.task] === undefined;
  const found = untried ? undefined : await findTask(producer, known, start.task);
  if (found) return found;
  const run = taskRunId(id, start.task);
  try {
    const { step, body } = await requestOf(producer, known, start);
    const policy = policies[start.step];
    if (!policy) throw new HotcellError('record_damaged', `Step ${start.step} of workflow ${id} has no policy.`);
    const reusable = step.reuse ? (spec: Acceptable['spec']) => earlierRun(producer, tenant, spec) : undefined;
    const answered = await ask(producer, { body, caller, given: { run, policy, untried }, reusable });
    crashPoint('workflow.started');
    if (answered.run === run) return { run };
    const reason = `Run ${answered.run} computed the same.`;
    return await factsOf(producer, await record(producer, known, start.task, 'reused', answered.run, reason));
  } catch (error) {
    if (!(error instanceof HotcellError) || error.retryable) throw error;
    // A refusal that was recorded as a run says more.
    const refused = await findTask(producer, known, start.task);
    return (
      refused ?? (await factsOf(producer, await record(producer, known, start.task, 'refused', null, error.message)))
    );
  }
}

async function requestOf(producer: Producer, known: KnownWorkflow, { step: name, index }: Start) {
  const { tenant, id } = known;
  const steps = known.steps ?? (await readWorkflow(producer.store, { tenant, id }))?.steps;
  const step: WorkflowStep | undefined = steps?.[name];
  if (!step) throw new HotcellError('record_damaged', `The record of workflow ${id} is missing.`);
  const item = index === undefined ? undefined : await itemOf(producer, known, step, { name, index });
  const inputs = await sourcesOf(producer, known, step.run.inputs ?? {});
  if (item && !('value' in item)) inputs['item'] = await snapshotOf(producer, known, item);
  return { step, body: taskRequest(step.run, { name: known.name, step: name, inputs, ...(item && { item }) }) };
}

async function itemOf(
  { store }: Producer,
  known: KnownWorkflow,
  { over }: WorkflowStep,
  { name, index }: { name: string; index: number },
): Promise<FanItem | undefined> {
  if (over && 'items' in over) return { value: over.items[index] ?? null };
  const partitions = known.partitions.get(name);
  if (partitions) return await partitionOf(store, known.tenant, partitions, index);
  return known.files.get(name)?.[index];
}

async function snapshotOf(
  { store }: Producer,
  { tenant, id }: KnownWorkflow,
  item: Exclude<FanItem, { value: unknown }>,
): Promise<string> {
  const [what, files] = 'partition' in item ? ['a partition', item.files] : ['a file', [item]];
  const about = { source: `${what} of workflow ${id}`, by: `workflow ${id}` };
  return (await putSnapshot(store, tenant, files, about)).snapshot;
}

/** A run that computed the same and whose outputs are still there. */
async function earlierRun(
  { store, news }: Producer,
  tenant: string,
  spec: Acceptable['spec'],
): Promise<RunId | undefined> {
  const { digest } = await hashedForm(computedPart(spec));
  const run = await readReusable(store, tenant, digest);
  const result = run && (await news.resultOf(tenant, run));
  if (!result || result.outcome !== 'succeeded' || (await whyErased(store, tenant, run))) return undefined;
  return run;
}

async function record(
  { store }: Producer,
  { tenant, id }: KnownWorkflow,
  task: string,
  state: TaskRecord['state'],
  run: RunId | null,
  reason: string,
): Promise<TaskRecord> {
  const at = new Date().toISOString();
  const stands = await putTaskRecord(store, { version: 1, tenant, workflow: id, task, state, run, reason, at });
  crashPoint(`workflow.${state}`);
  return stands;
}

async function factsOf(producer: Producer, { tenant, state, run, reason }: TaskRecord): Promise<TaskFacts> {
  if (state === 'refused' || run === null) return { run: null, refused: reason };
  return await standingIn(producer, tenant, run);
}

async function standingIn({ news }: Producer, tenant: string, run: RunId): Promise<TaskFacts> {
  const result = await news.resultOf(tenant, run);
  if (!result) throw new HotcellError('record_damaged', `Run ${run}, which stands for a task, has no result.`);
  return { run, outcome: result.outcome, reused: true };
}
