import type { Caller } from '../auth/caller.ts';
import { mayActAs } from '../auth/caller.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Role } from '@hotcell/contract/apikey.ts';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';

/** What the route files are given: a server whose schemas are zod's. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

const callers = new WeakMap<object, Caller>();

export function rememberCaller(request: FastifyRequest, caller: Caller): void {
  callers.set(request.raw, caller);
}

/** Who asks. Every route asks this first, for the role it needs; a request that nobody recognised has no caller. */
export function callerOf(request: { raw: object }, role: Role = 'reader'): Caller {
  const caller = callers.get(request.raw);
  if (!caller) throw new HotcellError('unauthenticated', 'there is no API key');
  if (mayActAs(caller, role)) return caller;
  throw new HotcellError(
    'forbidden',
    `this needs the role ${role}, and the key ${caller.key} has the role ${caller.role}: use another key`,
  );
}

const judged = new WeakMap<object, () => void>();

export function onceJudged(request: { raw: object }, work: () => void): void {
  judged.set(request.raw, work);
}

/** The body is not needed any more, however long the answer still takes. */
export function bodyJudged(request: FastifyRequest): void {
  request.body = undefined;
  judged.get(request.raw)?.();
}

/** What concerns all tenants is the operator's alone. */
export function operatorOf(request: { raw: object }): Caller {
  const caller = callerOf(request, 'admin');
  if (caller.operator) return caller;
  throw new HotcellError('forbidden', `this is the operator's alone, and the key ${caller.key} is a tenant's`);
}
