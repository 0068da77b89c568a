import type { OpenMarker } from '@hotcell/record/schemas.ts';
import type { TicketSigner } from '@hotcell/contract/ticket-signing.ts';
import { turnPriority } from '@hotcell/contract/turns.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { Queues } from '@hotcell/outside/queue/queue.ts';

export interface EnqueueDeps {
  installation: string;
  queues: Queues;
  live: Live;
  tickets: TicketSigner;
  log: Logger;
}

/** A ticket for an open run, with its tenant's next turn. `again` says that the run may have begun already. */
export async function enqueue(deps: EnqueueDeps, marker: OpenMarker, options: { again?: true }): Promise<void> {
  const { run, tenant, spec, queue } = marker;
  const ticket = deps.tickets.issue({ installation: deps.installation, run, tenant, spec, queue }, new Date());
  const turn = await deps.live.turns.next(queue, `${tenant}/${marker.priority}`);
  await deps.queues.add(
    queue,
    run,
    { ticket, ...options },
    {
      priority: turnPriority(turn, marker.priority),
      notBefore: marker.notBefore ? new Date(marker.notBefore) : undefined,
    },
  );
}
