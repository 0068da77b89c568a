import { TenantName } from '@hotcell/contract/names.ts';
import { z } from 'zod';

/** What the queue need not be told. */
export const usualCpus = 1;

/**
 * What lies in the queue under a run's id. None of it is trusted: the ticket proves itself by its signature, and the
 * rest decides only when the ticket is served and how carefully.
 */
const Envelope = z.object({
  version: z.literal(1),
  ticket: z.unknown(),
  tenant: TenantName,
  priority: z.int().min(0).max(9),
  /** Of the run; one where it is not said. */
  cpus: z.number().positive().default(usualCpus),
  recovered: z.boolean().default(false),
});
export type Envelope = z.input<typeof Envelope>;

interface Opened {
  ticket: unknown;
  recovered: boolean;
  tenant?: string;
  cpus?: number;
}

/** The version before put in the bare ticket, and named what recovery queued `again`. */
export function openEnvelope({ name, data }: { name: string; data: unknown }): Opened {
  const { data: envelope } = Envelope.safeParse(data);
  return envelope ?? { ticket: data, recovered: name === 'again' };
}
