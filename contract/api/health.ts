import { z } from 'zod';
import { answerObject, answerSchema, jsonAnswer, plainText, tagged } from './route.ts';

const Readiness = answerObject('Readiness', {
  status: z.enum(['ready', 'not_ready', 'draining']),
  checks: z.strictObject({ redis: z.boolean(), bucket: z.boolean() }),
});

const route = tagged('health');

export const healthRoutes = {
  isAlive: route('GET /healthz', 'anyone', 'Say that this process answers', {
    answers: { 200: jsonAnswer('it answers', answerObject('Liveness', { status: z.literal('ok') })) },
  }),
  isReady: route('GET /readyz', 'anyone', 'Say whether runs can be submitted', {
    answers: {
      200: jsonAnswer('runs can be submitted', Readiness),
      503: jsonAnswer('runs cannot be submitted at the moment', Readiness),
    },
  }),
  getMetrics: route('GET /metrics', 'operator', 'Give metrics of all tenants in the text format of Prometheus', {
    answers: { 200: { description: 'the metrics', content: { [plainText]: z.string() } } },
  }),
  getOpenApi: route('GET /openapi.json', 'anyone', 'Describe this API', {
    answers: {
      200: jsonAnswer('OpenAPI 3.1', answerSchema('OpenApi', z.looseObject({ openapi: z.literal('3.1.0') }))),
    },
  }),
};
