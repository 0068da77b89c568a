import type { FastifyInstance } from 'fastify';
import type { Doors } from '../bounds/doors.ts';
import { callerOf } from './authenticate.ts';
import { heldFor } from './streams.ts';

/** Smaller ones cost no more than the request itself. */
const smallBytes = 64 * 1024;
/** Asks of those who show no key are few and small. */
const anyone = '(anyone)';

/**
 * An answer that is sent in one piece is held here until its reader has taken it. It counts from then on, and where its
 * tenant has no room, it is dropped at once for a refusal that says when to ask again.
 */
export function boundAnswers(app: FastifyInstance, doors: Pick<Doors, 'answers'>): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const bytes = sizeOf(payload);
    if (bytes <= smallBytes) return payload;
    heldFor(reply, doors.answers.take(callerOf(request)?.tenant ?? anyone, bytes));
    return payload;
  });
}

/** Streams are bounded elsewhere. */
function sizeOf(payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload);
  return payload instanceof Uint8Array ? payload.length : 0;
}
