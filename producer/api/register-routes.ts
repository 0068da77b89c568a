import type { JsonAnswer, Parsed, Route } from '@hotcell/contract/api/route.ts';
import { type OperationId, type Routes, routes } from '@hotcell/contract/api/routes.ts';
import { parseExplained } from '@hotcell/contract/explain-issues.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../auth/caller.ts';
import { callerOf } from './authenticate.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    route?: Route;
  }
}

interface Exchange<R extends Route> extends Parsed<R> {
  caller: R['role'] extends 'anyone' ? undefined : Caller;
  request: FastifyRequest;
  reply: FastifyReply;
}

type Handler<R extends Route> = (exchange: Exchange<R>) => Promise<JsonAnswer<R> | FastifyReply>;

/** An operation without a handler, or with one that answers something else, does not compile. */
export type Handlers = { [Id in OperationId]: Handler<Routes[Id]> };

export function registerRoutes(app: FastifyInstance, handlers: Handlers): void {
  app.addHook('onRoute', ({ config, url }) => {
    if (!config?.route) throw new Error(`${url} is not in contract/api/routes.ts, so nothing describes it`);
  });
  for (const [id, route] of Object.entries<Route>(routes)) {
    const handler: (exchange: never) => Promise<unknown> = handlers[id as OperationId];
    app.route({
      method: route.method,
      url: route.path.replace('{path}', '*').replaceAll(/\{(\w+)\}/g, ':$1'),
      config: { route },
      handler: async (request, reply) => await handler(exchangeOf(route, request, reply) as never),
    });
  }
}

function exchangeOf(route: Route, request: FastifyRequest, reply: FastifyReply) {
  const { '*': path, ...named } = request.params as Record<string, string>;
  return {
    params: route.params && parseAs(route.params, path === undefined ? named : { ...named, path }, 'the address'),
    query: route.query && parseExplained(route.query, request.query, 'the query'),
    headers: route.headers && parseAs(route.headers, request.headers, 'the headers'),
    body: bodyOf(route, request.body),
    caller: callerOf(request),
    request,
    reply,
  };
}

function bodyOf({ body }: Route, value: unknown): unknown {
  if (!body || body.parsedBy === 'handler') return value;
  if (body.optional && (value === undefined || value === null)) return undefined;
  return parseExplained(body.schema, value, 'the body');
}
