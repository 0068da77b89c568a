import type { FastifyInstance, FastifyRequest } from 'fastify';
import { notFound } from './not-found.ts';
import { type Caller, callerFrom, requireRole } from '../auth/caller.ts';
import type { OpenConnections } from './open-connections.ts';
import type { Producer } from '../producer.ts';

const callers = new WeakMap<object, Caller>();

/** Before anything of the body is read: who asks, and whether they may ask this. */
export function authenticate(app: FastifyInstance, producer: Producer, connections: OpenConnections): void {
  app.addHook('onRequest', async (request, reply) => {
    const { route } = request.routeOptions.config;
    if (route?.role === 'anyone') return;
    const record = await producer.keys.recognise(request.headers.authorization);
    connections.recognise(request.raw.socket, record.tenant);
    const tenant = request.headers['hotcell-tenant'];
    const caller = callerFrom(record, typeof tenant === 'string' ? tenant : undefined);
    // Before anything refuses it: the log says whose request was refused.
    callers.set(request.raw, caller);
    // Of an unknown address or method nothing is read either.
    if (!route) throw notFound(request.method, request.url);
    requireRole(caller, route.role);
    if (caller.tenant !== record.tenant) await producer.tenants.require(caller.tenant);
    // What only the operator may do is never refused for haste: with it, quotas are changed.
    if (route.role !== 'operator') producer.rates.take(record.tenant, producer.quotas.of(record.tenant));
    producer.openRequests.add(record.id, request.raw, reply.raw);
  });
}

export function callerOf(request: FastifyRequest): Caller | undefined {
  return callers.get(request.raw);
}
