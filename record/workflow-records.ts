import { Digest } from '@hotcell/contract/digest.ts';
import { RunId } from '@hotcell/contract/names.ts';
import type {
  TaskRecord,
  Workflow,
  WorkflowCancel,
  WorkflowEnd,
  WorkflowProgress,
} from '@hotcell/contract/workflow.ts';
import type { Buckets } from './buckets.ts';
import { recordKeys, workKeys } from './layout.ts';
import { objects } from './objects.ts';
import { put, putFirst, readValue } from './read-write.ts';

/** Which workflow. */
export interface WorkflowAt {
  tenant: string;
  id: RunId;
}

export async function readWorkflow(store: Buckets, { tenant, id }: WorkflowAt): Promise<Workflow | undefined> {
  return await readValue(store, objects.workflow, tenant, id);
}

/** Answers the definition that stands: a caller that repeats its request may have been faster. */
export async function putWorkflow(store: Buckets, workflow: Workflow): Promise<Workflow> {
  return await putFirst(store, objects.workflow, workflow, workflow.tenant, workflow.id);
}

export async function markWorkflowOpen(store: Buckets, { tenant, id }: WorkflowAt): Promise<void> {
  const at = new Date().toISOString();
  await put(store, objects.openWorkflow, { version: 1, tenant, workflow: id, at }, tenant, id);
}

/** Longer than any request takes between its mark and its definition. */
const unmadeMs = 10 * 60_000;

/** A mark whose definition is not there: its producer is about to put it, or died before. Then the mark goes. */
export async function collectMark(store: Buckets, place: WorkflowAt): Promise<void> {
  const mark = await readValue(store, objects.openWorkflow, place.tenant, place.id);
  if (mark && Date.now() - Date.parse(mark.at) > unmadeMs) await unmarkWorkflow(store, place);
}

export async function unmarkWorkflow(store: Buckets, { tenant, id }: WorkflowAt): Promise<void> {
  await store.delete(store.work, workKeys.openWorkflow(tenant, id));
}

/** Those that have not ended, of one tenant or of all. */
export async function* openWorkflows(store: Buckets, tenant?: string): AsyncGenerator<WorkflowAt> {
  const prefix = tenant === undefined ? workKeys.openWorkflows : workKeys.openWorkflowsOf(tenant);
  for await (const { key } of store.list(store.work, prefix)) {
    const [, of = '', name] = key.split('/');
    const id = RunId.safeParse(name);
    if (id.success) yield { tenant: of, id: id.data };
  }
}

const listedAtOnce = 100;
const orderLetters = 13;

/** The workflows of a tenant, the newest first. */
export async function* workflowsOf(store: Buckets, tenant: string, after?: RunId): AsyncGenerator<RunId> {
  const prefix = recordKeys.workflows(tenant);
  const from = after === undefined ? {} : { after: recordKeys.workflow(tenant, after) };
  for await (const { key } of store.list(store.record, prefix, { ...from, pageSize: listedAtOnce })) {
    const id = RunId.safeParse(key.slice(prefix.length + orderLetters, -'.json'.length));
    if (id.success) yield id.data;
  }
}

/** The first one who cancels stays. */
export async function putWorkflowCancel(
  store: Buckets,
  { tenant, id }: WorkflowAt,
  cancel: WorkflowCancel,
): Promise<WorkflowCancel> {
  return await putFirst(store, objects.workflowCancel, cancel, tenant, id);
}

export async function readWorkflowCancel(
  store: Buckets,
  { tenant, id }: WorkflowAt,
): Promise<WorkflowCancel | undefined> {
  return await readValue(store, objects.workflowCancel, tenant, id);
}

/** Answers the one that stands: what a leader before decided is decided. */
export async function putTaskRecord(store: Buckets, task: TaskRecord): Promise<TaskRecord> {
  return await putFirst(store, objects.workflowTask, task, task.tenant, task.workflow, task.task);
}

export async function readTaskRecord(
  store: Buckets,
  { tenant, id }: WorkflowAt,
  task: string,
): Promise<TaskRecord | undefined> {
  return await readValue(store, objects.workflowTask, tenant, id, task);
}

export async function putWorkflowEnd(store: Buckets, end: WorkflowEnd): Promise<WorkflowEnd> {
  return await putFirst(store, objects.workflowEnd, end, end.tenant, end.workflow);
}

export async function readWorkflowEnd(store: Buckets, { tenant, id }: WorkflowAt): Promise<WorkflowEnd | undefined> {
  return await readValue(store, objects.workflowEnd, tenant, id);
}

/** What the leader last saw: only for those who look. */
export async function putWorkflowProgress(store: Buckets, progress: WorkflowProgress): Promise<void> {
  await put(store, objects.workflowProgress, progress, progress.tenant, progress.workflow);
}

export async function readWorkflowProgress(
  store: Buckets,
  { tenant, id }: WorkflowAt,
): Promise<WorkflowProgress | undefined> {
  return await readValue(store, objects.workflowProgress, tenant, id);
}

/** The run whose outputs stand for every later one of the same spec. The newest stays. */
export async function putReusable(store: Buckets, tenant: string, print: Digest, run: RunId): Promise<void> {
  await put(store, objects.reusable, { version: 1, run }, tenant, print);
}

export async function readReusable(store: Buckets, tenant: string, print: Digest): Promise<RunId | undefined> {
  return (await readValue(store, objects.reusable, tenant, print))?.run;
}

/** The snapshots that open workflows name: no run may point to them yet. */
export async function* snapshotsOfWorkflows(store: Buckets, tenant: string): AsyncGenerator<Digest> {
  for await (const place of openWorkflows(store, tenant)) {
    const workflow = await readWorkflow(store, place);
    for (const { run, over } of Object.values(workflow?.steps ?? {})) {
      const { inputs = {}, workspace = '' } = run;
      for (const source of [...Object.values(inputs), workspace, ...(over && 'files' in over ? [over.files] : [])])
        if (Digest.safeParse(source).success) yield source;
    }
  }
}
