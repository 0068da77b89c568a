import { readSession } from '@hotcell/record/session-steps.ts';
import type { Stage } from '../stages.ts';
import type { Worker } from '../worker.ts';

const isSession = (stage: Stage) => 'spec' in stage && stage.spec.mode === 'session';

/** Whether a step of this session has begun, in this attempt or an earlier one: then it is never begun again. */
export async function hasBegunSteps({ store }: Pick<Worker, 'store'>, stage: Stage): Promise<boolean> {
  const { tenant, run } = stage.ticket;
  if (!isSession(stage) || !('claim' in stage)) return false;
  const session = await readSession(store, tenant, run);
  // One that a later attempt began goes on there.
  return session !== undefined && session.attempt <= stage.claim.attempt;
}

/** Why a session that had begun is given up. */
export function lostSession(why: string): string {
  return `The platform failed, not your steps: ${why.replace(/\.$/, '')}. What the finished steps left is kept. A session is never run again: start a new one.`;
}
