import { cancelledBy, type Stop } from '@hotcell/contract/decide-outcome.ts';
import type { Served } from '@hotcell/outside/queue/queue.ts';
import type { Executed } from '../stages.ts';
import type { Worker } from '../worker.ts';
import { resultOf } from './attempt-result.ts';
import { commitWithPosture } from './commit-with-posture.ts';
import { loseTo, recordOwnAttempt, retryMs } from './fall-back.ts';

/** A cancel between the program's end and the commit still counts; what the program did is published beside it. */
export function unlessCancelled(executed: Executed, stop: Stop | undefined): Executed {
  if (stop?.kind !== 'cancelled') return executed;
  const { execution } = executed;
  const verdict = { ...execution.verdict, outcome: 'cancelled', reason: cancelledBy(stop), exitCode: null } as const;
  return { ...executed, execution: { ...execution, verdict } };
}

/** The submitter asked for another try if the program ends like this. */
export async function tryAgain(worker: Worker, executed: Executed): Promise<Served | undefined> {
  const { spec, history, execution } = executed;
  const { outcome, reason } = execution.verdict;
  const wanted = spec.retry?.on.some((on) => on === outcome) && history.ended < spec.retry.max;
  if (!wanted) return undefined;
  await recordOwnAttempt(worker, executed, { error: { code: outcome, message: reason }, handedBack: false, outcome });
  return { kind: 'later', afterMs: retryMs(0) };
}

export async function publish(worker: Worker, executed: Executed): Promise<Served> {
  const result = resultOf(executed, new Date());
  return (await commitWithPosture(worker, executed, result)) ? { kind: 'done' } : loseTo(worker, executed);
}
