import type { TicketBody } from '@hotcell/contract/ticket.ts';
import type { Pulled, Served } from '@hotcell/outside/queue/queue.ts';
import { followCommitted } from '@hotcell/record/commit.ts';
import { readHistory } from '@hotcell/record/attempt-history.ts';
import { once } from '@hotcell/record/patience.ts';
import type { Ticketed } from '../stages.ts';
import type { Worker } from '../worker.ts';
import type { RunControl } from './run-control.ts';

/** From this age on, the bucket is asked whether the run has finished meanwhile: Valkey may have forgotten. */
const freshMs = 30 * 60_000;
const lookAgainMs = 1_000;

export interface Believed {
  ticket: TicketBody;
  /** The run may have begun, or be finished: the buckets are asked before anything is done. */
  again: boolean;
}

/** A ticket that is not ours is `ticket_refused`, and nothing is done for it. */
export function believe(worker: Worker, queue: string, pulled: Pulled): Believed {
  const now = new Date();
  const { installation } = worker;
  const ticket = worker.tickets.read(pulled.ticket, { installation, queue, run: pulled.id, now });
  const old = now.getTime() - Date.parse(ticket.issuedAt) > freshMs;
  return { ticket, again: pulled.mayHaveBegun || old };
}

/** Whether there is anything left to do: the run may be finished, alive on another worker, or cancelled before it began. */
export async function look(
  worker: Worker,
  ticketed: Ticketed,
  control: RunControl,
  again: boolean,
): Promise<Ticketed | Served> {
  const { store, live } = worker;
  const { tenant, run } = ticketed.ticket;
  const seen = await live.before(run).catch(() => undefined);
  // A worker that only holds the ticket has not begun the run.
  if (seen?.beat && seen.beat.status !== 'queued') return { kind: 'later', afterMs: lookAgainMs };
  let { history } = ticketed;
  if (again || !seen || seen.finished) {
    // Nothing is lost if the store is away: the ticket is served again. Patience here would outlast a drain or a cancel.
    if (await followCommitted({ ...worker, patience: once }, tenant, run)) return { kind: 'done' };
    history = await readHistory(store, tenant, run);
  }
  if (again || !seen || seen.cancel) await control.look();
  return { ...ticketed, history };
}
