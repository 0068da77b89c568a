import type { OpenMarker } from '@hotcell/record/schemas.ts';
import type { TicketSigner } from '@hotcell/contract/ticket-signing.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { Queues } from '@hotcell/outside/queue/queues.ts';

export interface EnqueueDeps {
  installation: string;
  queues: Queues;
  live: Live;
  tickets: TicketSigner;
  log: Logger;
}

/** Queues an open run's ticket. `recovered` says that the run may have begun already. */
export async function enqueue(deps: EnqueueDeps, marker: OpenMarker, options: { recovered?: true }): Promise<void> {
  const { run, tenant, spec, queue, priority } = marker;
  const ticket = deps.tickets.issue({ installation: deps.installation, run, tenant, spec, queue }, new Date());
  const notBefore = marker.notBefore ? new Date(marker.notBefore) : undefined;
  await deps.queues.of(queue).enqueue(ticket, { run, tenant, priority, notBefore, ...options });
}
