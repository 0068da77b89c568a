import { z } from 'zod';
import { Digest } from './digest.ts';
import { RunId, TenantName } from './names.ts';

const references = {
  installation: z.string(),
  run: RunId,
  tenant: TenantName,
  spec: Digest,
  /** The queue it was issued for: a worker refuses a ticket that was moved to another one. */
  queue: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/),
  issuedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
} as const;

/**
 * A ticket in the queue: references and a signature, never code or data. Version 2 names the key that signed it. Version 1
 * is still accepted, because tickets wait while workers and producers are updated.
 */
export const TicketBody = z.discriminatedUnion('version', [
  z.strictObject({ version: z.literal(2), key: z.string().regex(/^[0-9a-f]{16}$/), ...references }),
  z.strictObject({ version: z.literal(1), ...references }),
]);
export type TicketBody = z.infer<typeof TicketBody>;

export const Ticket = z.strictObject({ body: TicketBody, signature: z.string().regex(/^[A-Za-z0-9+/]{86}(==)?$/) });
export type Ticket = z.infer<typeof Ticket>;
