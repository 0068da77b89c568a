import type { WorkflowAct } from '@hotcell/contract/workflow-decide.ts';
import type { KnownWorkflow } from './known-workflow.ts';

/**
 * What is full, or away, holds the next starts up; all else goes on. Each wanted act changes what is known, or the loop
 * would turn without an end: of a cancelled workflow a start only looks, and a task without a run can't be cancelled.
 */
export function isWanted(
  known: Pick<KnownWorkflow, 'cancelled' | 'heldUntil' | 'ending' | 'tasks'>,
  act: WorkflowAct,
  now: number,
): boolean {
  if (act.do === 'start') return known.cancelled !== undefined || now >= known.heldUntil;
  if (act.do !== 'cancel') return true;
  return !known.ending.has(act.task) && (known.tasks.get(act.task)?.run ?? null) !== null;
}
