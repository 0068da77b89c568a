import type { TicketBody } from '@hotcell/contract/ticket.ts';
import type { Pulled } from '@hotcell/outside/queue/queue.ts';
import type { Worker } from '../worker.ts';

/** After so long, whether the run was finished meanwhile is asked of the bucket, not of Valkey. */
const freshMs = 30 * 60_000;

export interface Believed {
  ticket: TicketBody;
  /** The run may have begun, or be finished: the buckets are asked before anything is done. */
  again: boolean;
}

/** What came from the queue, believed or not: a ticket that is not ours is `ticket_refused`, and nothing is done for it. */
export function believe(worker: Worker, queue: string, pulled: Pulled): Believed {
  const now = new Date();
  const ticket = worker.tickets.read(pulled.data, {
    installation: worker.installation,
    queue,
    run: pulled.id,
    now,
  });
  const old = now.getTime() - Date.parse(ticket.issuedAt) > freshMs;
  return { ticket, again: pulled.before || old };
}
