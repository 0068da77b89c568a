import type { StepStanding, WorkflowAct } from '@hotcell/contract/workflow-decide.ts';
import type { WorkflowEnd } from '@hotcell/contract/workflow.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { noteEventIfWanted } from '@hotcell/record/webhook-records.ts';
import { putWorkflowEnd, unmarkWorkflow } from '@hotcell/record/workflow-records.ts';
import type { Producer } from '../producer.ts';
import type { KnownWorkflow } from './known-workflow.ts';

/** The end comes first, then the event, then the mark goes: a leader that dies in between finds what is left to do. */
export async function endWorkflow(
  { store }: Producer,
  { tenant, id, callback }: KnownWorkflow,
  { outcome, reason }: Extract<WorkflowAct, { do: 'end' }>,
  steps: readonly StepStanding[],
): Promise<void> {
  const at = new Date().toISOString();
  const asked = { version: 1 as const, tenant, workflow: id, outcome, reason, at, steps: [...steps] };
  const end = await putWorkflowEnd(store, asked);
  crashPoint('workflow.ended');
  await tellEndOf(store, end, callback);
}

export async function tellEndOf(
  store: Buckets,
  { tenant, workflow, outcome, at }: WorkflowEnd,
  callback: string | undefined,
): Promise<void> {
  const event = { version: 1, tenant, id: `workflow-${workflow}`, type: 'workflow.finished', at } as const;
  await noteEventIfWanted(store, { ...event, data: { workflow, outcome } }, callback);
  await unmarkWorkflow(store, { tenant, id: workflow });
}
