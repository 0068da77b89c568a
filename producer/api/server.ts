import { randomUUID } from 'node:crypto';
import fastify, { type FastifyInstance } from 'fastify';
import type { Producer } from '../producer.ts';
import { logAccess } from './access-log.ts';
import { answerProblems, refuseUnreadable, sendProblem } from './answer-problems.ts';
import { apiKeyHandlers } from './apikey-handlers.ts';
import { authenticate } from './authenticate.ts';
import { batchHandlers } from './batch-handlers.ts';
import { diskHandlers } from './disk-handlers.ts';
import { evidenceHandlers } from './evidence-handlers.ts';
import { healthHandlers } from './health-handlers.ts';
import { boundAnswers } from './large-answers.ts';
import { logHandlers } from './log-handlers.ts';
import { mcpHandlers } from './mcp-handlers.ts';
import { OpenConnections } from './open-connections.ts';
import { outputHandlers } from './output-handlers.ts';
import { policyHandlers } from './policy-handlers.ts';
import { problemOf } from './problem-of.ts';
import { quotaHandlers } from './quota-handlers.ts';
import { runHandlers } from './run-handlers.ts';
import { registerRoutes } from './register-routes.ts';
import { scheduleHandlers } from './schedule-handlers.ts';
import { sessionHandlers } from './session-handlers.ts';
import { snapshotHandlers } from './snapshot-handlers.ts';
import { dropSlowReaders } from './slow-readers.ts';
import { takeBodies } from './take-bodies.ts';
import { tenantHandlers } from './tenant-handlers.ts';
import { webhookHandlers } from './webhook-handlers.ts';
import { workerHandlers } from './worker-handlers.ts';
import { workflowHandlers } from './workflow-handlers.ts';

const headers = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

export function buildServer(producer: Producer): FastifyInstance {
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    // A request that still comes on an open connection while this process ends is answered, then the connection closed.
    return503OnClosing: false,
    genReqId: () => randomUUID(),
    routerOptions: { maxParamLength: 8_192 },
    clientErrorHandler: refuseUnreadable(producer.log),
    frameworkErrors: (error, request, reply) => {
      sendProblem(problemOf(error, request.id), reply.headers({ ...headers, 'x-request-id': request.id }));
    },
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...headers, 'x-request-id': request.id });
  });
  answerProblems(app, producer);
  authenticate(app, producer, new OpenConnections(app.server, producer));
  boundAnswers(app, producer.doors);
  logAccess(app, producer.log);
  takeBodies(app, producer);
  dropSlowReaders(app.server, producer.patienceMs, producer.log);
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? '(none)';
    const labels = { route, method: request.method, status: String(reply.statusCode) };
    producer.metrics.count('hotcell_http_requests_total', labels);
    if (reply.statusCode === 401) producer.metrics.count('hotcell_unauthenticated_total');
  });
  registerRoutes(app, {
    ...healthHandlers(producer),
    ...runHandlers(producer),
    ...logHandlers(producer),
    ...sessionHandlers(producer),
    ...outputHandlers(producer),
    ...evidenceHandlers(producer),
    ...workerHandlers(producer),
    ...diskHandlers(producer),
    ...apiKeyHandlers(producer),
    ...policyHandlers(producer),
    ...quotaHandlers(producer),
    ...scheduleHandlers(producer),
    ...batchHandlers(producer),
    ...workflowHandlers(producer),
    ...webhookHandlers(producer),
    ...tenantHandlers(producer),
    ...snapshotHandlers(producer),
    ...mcpHandlers(producer),
  });
  return app;
}
