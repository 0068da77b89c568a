import type { Steps } from '@hotcell/executor-worker/worker.ts';
import { echoSteps } from './echo.ts';

/** Echo steps for runs that were submitted over HTTP, and so have tickets in a policy's queue. */
export function echoOn(queue: string): Steps {
  return { ...echoSteps, judge: async (...given) => ({ ...(await echoSteps.judge(...given)), queue }) };
}
