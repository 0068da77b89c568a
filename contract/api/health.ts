import { z } from 'zod';
import { answerSchema, jsonAnswer, plainText, type Route } from './route.ts';

const Readiness = answerSchema(
  'Readiness',
  z.strictObject({
    status: z.enum(['ready', 'not_ready', 'draining']),
    checks: z.strictObject({ redis: z.boolean(), bucket: z.boolean() }),
  }),
);

export const healthRoutes = {
  isAlive: {
    method: 'GET',
    path: '/healthz',
    summary: 'Say that this process answers',
    tag: 'health',
    role: 'anyone',
    answers: { 200: jsonAnswer('it answers', answerSchema('Liveness', z.strictObject({ status: z.literal('ok') }))) },
  },
  isReady: {
    method: 'GET',
    path: '/readyz',
    summary: 'Say whether runs can be submitted',
    tag: 'health',
    role: 'anyone',
    answers: {
      200: jsonAnswer('runs can be submitted', Readiness),
      503: jsonAnswer('runs cannot be submitted at the moment', Readiness),
    },
  },
  getMetrics: {
    method: 'GET',
    path: '/metrics',
    summary: 'Give metrics in the text format of Prometheus',
    tag: 'health',
    role: 'reader',
    answers: { 200: { description: 'the metrics', content: { [plainText]: z.string() } } },
  },
  getOpenApi: {
    method: 'GET',
    path: '/openapi.json',
    summary: 'Describe this API',
    tag: 'health',
    role: 'anyone',
    answers: {
      200: jsonAnswer('OpenAPI 3.1', answerSchema('OpenApi', z.looseObject({ openapi: z.literal('3.1.0') }))),
    },
  },
} as const satisfies Record<string, Route>;
