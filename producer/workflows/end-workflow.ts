import type { StepStanding, WorkflowAct } from '@hotcell/contract/workflow-decide.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { putWorkflowEnd, unmarkWorkflow } from '@hotcell/record/workflow-records.ts';
import type { Producer } from '../producer.ts';
import type { KnownWorkflow } from './known-workflow.ts';

/** The end comes first, then the mark goes: a leader that dies in between finds the end. */
export async function endWorkflow(
  { store }: Producer,
  { tenant, id }: KnownWorkflow,
  { outcome, reason }: Extract<WorkflowAct, { do: 'end' }>,
  steps: readonly StepStanding[],
): Promise<void> {
  const at = new Date().toISOString();
  await putWorkflowEnd(store, { version: 1, tenant, workflow: id, outcome, reason, at, steps: [...steps] });
  crashPoint('workflow.ended');
  await unmarkWorkflow(store, { tenant, id });
}
