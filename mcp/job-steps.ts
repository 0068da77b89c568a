import { routes } from '@hotcell/contract/api/routes.ts';
import { isFinished, type RunView } from '@hotcell/contract/api/runs.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Api } from './api.ts';
import { type TellProgress, waitTelling } from './wait-telling.ts';

interface Wait {
  run: string;
  seconds: number;
  signal: AbortSignal;
  tell?: TellProgress | undefined;
}

/** The run at its end, or as it is after the wait; undefined if it was accepted and can't be asked about now. */
export async function waitForJob(api: Api, wait: Wait): Promise<RunView | undefined> {
  try {
    return await viewJob(api, wait);
  } catch (error) {
    if (error instanceof HotcellError && error.retryable) return undefined;
    throw error;
  }
}

/** With what the program printed, if it has ended. */
export async function viewJob(api: Api, { run, seconds, signal, tell }: Wait): Promise<RunView> {
  const ask = async (slice: number) => {
    const headers: Record<string, string> = slice > 0 ? { prefer: `wait=${slice}` } : {};
    const query = slice > 0 ? {} : { include: 'stdout,stderr' };
    return await api.call(routes.getRun, { params: { run }, headers, query, signal });
  };
  return await waitTelling({ seconds, tell, ask, isOver: isFinished, says: saysOf });
}

/** Where it is, for a client that waits; with its id, by which it can be asked for later. */
export function saysOf(view: RunView): string {
  const why = isFinished(view) ? view.reason : view.waiting?.message;
  return `run ${view.run} is ${view.status}${why === undefined ? '' : `: ${why}`}`;
}

/** A run that has ended by then needs no end. */
export async function endJob(api: Api, run: string, reason: string): Promise<void> {
  try {
    await api.call(routes.cancelRun, { params: { run }, json: { reason } });
  } catch (error) {
    if (!(error instanceof HotcellError && error.code === 'finished_already')) throw error;
  }
}
