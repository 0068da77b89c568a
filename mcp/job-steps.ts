import { routes } from '@hotcell/contract/api/routes.ts';
import type { RunView } from '@hotcell/contract/api/runs.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Api } from './api.ts';

interface Wait {
  run: string;
  seconds: number;
  signal: AbortSignal;
}

/** The run at its end, or as it is after the wait; undefined if it was accepted and can't be asked about now. */
export async function waitForJob(api: Api, { run, seconds, signal }: Wait): Promise<RunView | undefined> {
  try {
    return await viewJob(api, { run, seconds, signal });
  } catch (error) {
    if (error instanceof HotcellError && error.retryable) return undefined;
    throw error;
  }
}

/** With what the program printed, if it has ended. */
export async function viewJob(api: Api, { run, seconds, signal }: Wait): Promise<RunView> {
  const headers: Record<string, string> = seconds > 0 ? { prefer: `wait=${seconds}` } : {};
  const query = seconds > 0 ? {} : { include: 'stdout,stderr' };
  return await api.call(routes.getRun, { params: { run }, headers, query, signal });
}

/** A run that has ended by then needs no end. */
export async function endJob(api: Api, run: string, reason: string): Promise<void> {
  try {
    await api.call(routes.cancelRun, { params: { run }, json: { reason } });
  } catch (error) {
    if (!(error instanceof HotcellError && error.code === 'finished_already')) throw error;
  }
}
