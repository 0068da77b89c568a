import { type OperationId, routes } from '@hotcell/contract/api/routes.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerOf } from './authenticate.ts';

/** These change nothing but a caller's own data, and the record has them. Everything else that is not a GET is audited. */
const recorded: ReadonlySet<string> = new Set<OperationId>([
  'submitRun',
  'rerunRun',
  'tryPolicy',
  'uploadContent',
  'createSnapshot',
]);
const idOf = new Map<unknown, string>(Object.entries(routes).map(([id, route]) => [route, id]));

/**
 * One line for each request that is refused, and for each that changes something for others: a requestId that a caller
 * was given is found here, and so is who cancelled, revoked or drained.
 */
export function logAccess(app: FastifyInstance, log: Logger): void {
  app.addHook('onResponse', async (request, reply) => {
    const { route } = request.routeOptions.config;
    const operation = idOf.get(route);
    const audited = operation !== undefined && request.method !== 'GET' && !recorded.has(operation);
    if (reply.statusCode < 400 && !audited) return;
    const { statusCode: status, elapsedTime } = reply;
    const line = { requestId: request.id, status, ms: Math.round(elapsedTime), ...askedOf(request), ...whoOf(request) };
    if (status >= 400) log.info({ ...line, operation }, 'refused a request');
    else log.info({ ...line, audit: operation }, 'carried out a request');
  });
}

const longest = 256;
const bounded = (text: unknown) => String(text).slice(0, longest);

function askedOf({ method, url, params }: FastifyRequest) {
  const named = Object.entries((params ?? {}) as Record<string, unknown>).map(([name, value]) => [
    name,
    bounded(value),
  ]);
  // Without the query, which may hold labels and other data of a tenant.
  return { method, path: bounded(url.split('?')[0]), params: Object.fromEntries(named) };
}

function whoOf(request: FastifyRequest) {
  const caller = callerOf(request);
  return caller ? { key: caller.key, role: caller.role, tenant: caller.tenant } : { address: request.ip };
}
