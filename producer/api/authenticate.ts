import type { FastifyInstance, FastifyRequest } from 'fastify';
import { notFound } from './not-found.ts';
import { type Caller, callerFrom, requireRole } from '../auth/caller.ts';
import type { Producer } from '../producer.ts';

const callers = new WeakMap<object, Caller>();

/** Before anything of the body is read: who asks, and whether they may ask this. */
export function authenticate(app: FastifyInstance, producer: Producer): void {
  app.addHook('onRequest', async (request) => {
    const { route } = request.routeOptions.config;
    if (route?.role === 'anyone') return;
    const record = await producer.keys.recognise(request.headers.authorization);
    const tenant = request.headers['hotcell-tenant'];
    const caller = callerFrom(record, typeof tenant === 'string' ? tenant : undefined);
    // Of an unknown address or method nothing is read either.
    if (!route) throw notFound(request.method, request.url);
    requireRole(caller, route.role);
    callers.set(request.raw, caller);
  });
}

export function callerOf(request: FastifyRequest): Caller | undefined {
  return callers.get(request.raw);
}
