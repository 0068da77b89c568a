import { randomUUID } from 'node:crypto';
import swagger from '@fastify/swagger';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import fastify from 'fastify';
import { jsonSchemaTransform, type ZodTypeProvider } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { callerFrom } from '../auth/caller.ts';
import type { Producer } from '../producer.ts';
import { apiKeyRoutes } from './apikey-routes.ts';
import { type App, onceJudged, rememberCaller } from './app.ts';
import { bodyLimitBytes, parseBody } from './body.ts';
import { readPast } from './read-past.ts';
import { healthRoutes } from './health-routes.ts';
import { logRoutes } from './log-routes.ts';
import { outputRoutes } from './output-routes.ts';
import { policyRoutes } from './policy-routes.ts';
import { problemOf } from './problem.ts';
import { rebuildRoutes } from './rebuild-routes.ts';
import { Room } from './body-room.ts';
import { runRoutes } from './run-routes.ts';
import { snapshotRoutes } from './snapshot-routes.ts';
import { workerRoutes } from './worker-routes.ts';

const headers = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** What may be asked without a key: whether this process lives, and nothing about anybody's runs. */
const open = new Set(['/healthz', '/readyz']);

export async function buildServer(producer: Producer): Promise<App> {
  const app: App = fastify({
    logger: false,
    bodyLimit: bodyLimitBytes,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    // What still comes on an open connection while this process ends is answered, and the connection closed behind it.
    return503OnClosing: false,
    genReqId: () => randomUUID(),
    routerOptions: { maxParamLength: 8_192 },
  }).withTypeProvider<ZodTypeProvider>();

  speakZod(app);
  answerProblems(app, producer);
  takeJson(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...headers, 'x-request-id': request.id });
    if (open.has(request.routeOptions.url ?? '')) return;
    const record = await producer.keys.recognise(request.headers.authorization);
    const tenant = request.headers['hotcell-tenant'];
    rememberCaller(request, callerFrom(record, typeof tenant === 'string' ? tenant : undefined));
  });
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? '(none)';
    const labels = { route, method: request.method, status: String(reply.statusCode) };
    producer.metrics.count('hotcell_http_requests_total', labels);
    if (reply.statusCode === 401) producer.metrics.count('hotcell_unauthenticated_total');
  });

  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Hotcell', version: '1', description: 'Runs agent-written code as sealed, auditable batch jobs.' },
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
      security: [{ key: [] }],
    },
    transform: jsonSchemaTransform,
  });
  await app.register(async (routes: App) => {
    healthRoutes(routes, producer);
    runRoutes(routes, producer);
    logRoutes(routes, producer);
    outputRoutes(routes, producer);
    workerRoutes(routes, producer);
    apiKeyRoutes(routes, producer);
    policyRoutes(routes, producer);
    snapshotRoutes(routes, producer);
    rebuildRoutes(routes, producer);
  });
  return app;
}

/** What people call what the server calls by these. */
const partNames: Readonly<Record<string, string>> = {
  body: 'the body',
  headers: 'the headers',
  params: 'the address',
  querystring: 'the query',
};

/** Requests are parsed by the schemas that the documentation shows; answers are ours, and typed. */
function speakZod(app: App): void {
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => (data) => {
    try {
      return { value: parseAs(schema, data, partNames[httpPart ?? ''] ?? 'the request') };
    } catch (error) {
      return { error: error instanceof Error ? error : new Error(String(error)) };
    }
  });
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
}

function answerProblems(app: App, producer: Producer): void {
  app.setErrorHandler(async (error, request, reply) => {
    const problem = problemOf(error, request.id);
    if (problem.status >= 500)
      producer.log.error({ err: error, requestId: request.id, route: request.routeOptions.url }, 'a request failed');
    const after = problem['retryAfterSeconds'];
    if (typeof after === 'number') reply.header('retry-after', String(Math.ceil(after)));
    if (problem.status === 401) reply.header('www-authenticate', 'Bearer');
    if (problem.status === 413) await readPast(request.raw);
    // Serialised here: the schemas of the routes are those of success.
    return reply.code(problem.status).type('application/problem+json').serializer(JSON.stringify).send(problem);
  });
  app.setNotFoundHandler((request) => {
    throw new HotcellError(
      'not_found',
      `there is no ${request.method} ${request.url.split('?')[0]} here: see /openapi.json`,
    );
  });
}

/** Smaller ones are not worth counting. */
const smallBytes = 64 * 1024;
const largeWithinMs = 120_000;

function takeJson(app: App): void {
  const room = new Room(bodyLimitBytes);
  app.addHook('preParsing', async (request, reply, payload) => {
    const announced = Number(request.headers['content-length'] ?? bodyLimitBytes);
    const isJson = request.headers['content-type']?.startsWith('application/json');
    if (!isJson || announced <= smallBytes) return payload;
    const giveBack = await room.take(Math.min(announced, bodyLimitBytes));
    // Who trickles must not hold for long what others wait for.
    const late = setTimeout(() => request.raw.destroy(), largeWithinMs);
    const leave = () => {
      clearTimeout(late);
      giveBack();
    };
    reply.raw.once('close', leave);
    // Whoever went away while waiting will not close a second time.
    if (reply.raw.closed) leave();
    onceJudged(request, leave);
    return payload;
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    // No body at all is what `POST …/cancel` without a reason sends.
    body.length === 0 ? undefined : parseBody(body),
  );
}
