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

/** Recovery looks at every open run far more often than this. */
const nearMs = 60 * 60_000;

/** From when on a run's ticket stands in the queue: those of runs that begin much later would fill it, and expire there. */
export function queuedFrom({ notBefore }: Pick<OpenMarker, 'notBefore'>): number {
  return notBefore === undefined ? Number.NEGATIVE_INFINITY : Date.parse(notBefore) - nearMs;
}

/**
 * Queues an open run's ticket, unless its time is far off: recovery queues it when it is near. `recovered` says that the
 * run may have begun already.
 */
export async function enqueue(deps: EnqueueDeps, marker: OpenMarker, options: { recovered?: true }): Promise<void> {
  if (queuedFrom(marker) > Date.now()) return;
  const { run, tenant, spec, queue, priority, cpus } = marker;
  const ticket = deps.tickets.issue({ installation: deps.installation, run, tenant, spec, queue }, new Date());
  const notBefore = marker.notBefore ? new Date(marker.notBefore) : undefined;
  await deps.queues.of(queue).enqueue(ticket, { run, tenant, priority, notBefore, cpus, ...options });
}
