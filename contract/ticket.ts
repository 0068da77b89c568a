import { z } from 'zod';
import { Digest } from './digest.ts';
import { RunId, TenantName } from './names.ts';

/** What goes through the queue: references and a signature, never code or data. */
export const TicketBody = z.strictObject({
  version: z.literal(1),
  installation: z.string(),
  run: RunId,
  tenant: TenantName,
  spec: Digest,
  /** The capability (the queue) it was issued for: a ticket that is moved to another queue is refused. */
  queue: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/),
  issuedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
});
export type TicketBody = z.infer<typeof TicketBody>;

export const Ticket = z.strictObject({ body: TicketBody, signature: z.string().regex(/^[A-Za-z0-9+/]{86}==$/) });
export type Ticket = z.infer<typeof Ticket>;
