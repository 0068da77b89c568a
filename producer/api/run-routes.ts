import { parseAs } from '@hotcell/contract/parse.ts';
import { Outcome } from '@hotcell/contract/outcomes.ts';
import { RunStatus, Result } from '@hotcell/contract/result.ts';
import { RunRequest } from '@hotcell/contract/spec.ts';
import { RunView } from '@hotcell/contract/run-view.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Answered, ask } from '../ask.ts';
import { cancelRun } from '../cancel.ts';
import { ListedRun, listRuns } from '../list-runs.ts';
import type { Producer } from '../producer.ts';
import { rerun } from '../rerun.ts';
import { runIdOf, viewOf } from '../view-run.ts';
import { type App, bodyJudged, callerOf } from './app.ts';
import { Problem } from './problem.ts';
import { endsWith } from './streams.ts';

export const RunPath = z.strictObject({ run: z.string().describe('the id of a run') });

const Accepted = z.strictObject({
  run: z.string(),
  status: z.literal('queued'),
  warnings: z.array(z.string()).optional().describe('what in the code will not work here, as far as it shows'),
});

function acceptedAs({ run, warnings }: Answered): z.input<typeof Accepted> {
  return { run, status: 'queued', ...(warnings.length > 0 && { warnings: [...warnings] }) };
}
const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'an Idempotency-Key is 1 to 255 printable characters without spaces')
  .optional();

const longestWaitSeconds = 600;

/** `Prefer: wait=SECONDS` (RFC 7240): how long the caller would like to wait for the end. */
function waitOf(request: FastifyRequest): number {
  const [, seconds] = /(?:^|[,;\s])wait=(\d{1,9})\b/.exec(String(request.headers['prefer'] ?? '')) ?? [];
  return Math.min(Number(seconds ?? 0), longestWaitSeconds);
}

async function resultWithin(
  producer: Producer,
  request: FastifyRequest,
  reply: FastifyReply,
  of: { tenant: string; run: string },
): Promise<Result | undefined> {
  const seconds = waitOf(request);
  if (seconds === 0) return undefined;
  reply.header('preference-applied', `wait=${seconds}`);
  const signal = AbortSignal.any([endsWith(reply, producer), AbortSignal.timeout(seconds * 1000)]);
  return await producer.news.waitForResult(of.tenant, of.run, signal);
}

export function runRoutes(app: App, producer: Producer): void {
  app.post(
    '/v1/runs',
    {
      // The body is judged by `ask`, which knows what people bring from elsewhere and says what to do here instead.
      validatorCompiler: () => (value) => ({ value }),
      schema: {
        summary: 'Ask for a run',
        description: 'With "Prefer: wait=SECONDS" the answer is the result, if there is one by then.',
        tags: ['runs'],
        body: RunRequest,
        response: { 200: Result, 202: z.union([Accepted, RunView]), 400: Problem, 422: Problem, 429: Problem },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const idempotencyKey = parseAs(IdempotencyKey, request.headers['idempotency-key'], 'the Idempotency-Key');
      const answered = await ask(producer, { body: request.body, caller, idempotencyKey });
      const { run } = answered;
      bodyJudged(request);
      reply.header('location', `/v1/runs/${run}`);
      const result = await resultWithin(producer, request, reply, { tenant: caller.tenant, run });
      if (result) return reply.code(200).send(result);
      return reply
        .code(202)
        .send(waitOf(request) > 0 ? await viewOf(producer, caller.tenant, run) : acceptedAs(answered));
    },
  );

  app.get(
    '/v1/runs',
    {
      schema: {
        summary: 'Runs, the newest first',
        tags: ['runs'],
        querystring: z.strictObject({
          status: z.union([RunStatus, Outcome], { error: 'a status or an outcome' }).optional(),
          label: z
            .union([z.string(), z.array(z.string())])
            .transform((labels) => [labels].flat().map(labelOf))
            .optional(),
          since: z.iso.datetime({ offset: true }).optional(),
          limit: z.coerce.number().int().min(1).max(500).default(50),
          cursor: z.string().max(64).optional(),
        }),
        response: { 200: z.strictObject({ runs: z.array(ListedRun), next: z.string().nullable() }) },
      },
    },
    async (request) => await listRuns(producer, callerOf(request).tenant, request.query),
  );

  app.get(
    '/v1/runs/:run',
    {
      schema: {
        summary: 'A run: its result, or how far it is',
        description:
          'With "Prefer: wait=SECONDS" the answer comes as soon as it is finished, or then with what there is.',
        tags: ['runs'],
        params: RunPath,
        response: { 200: RunView, 404: Problem },
      },
    },
    async (request, reply) => {
      const { tenant } = callerOf(request);
      const run = runIdOf(request.params.run);
      // First of all whether there is such a run: nobody waits for one that never was.
      const view = await viewOf(producer, tenant, run);
      if (view.status === 'finished') return view;
      return (await resultWithin(producer, request, reply, { tenant, run })) ?? (await viewOf(producer, tenant, run));
    },
  );

  app.post(
    '/v1/runs/:run/cancel',
    {
      schema: {
        summary: 'End a run, at whatever stage it is',
        tags: ['runs'],
        params: RunPath,
        body: z.strictObject({ reason: z.string().max(1000).optional() }).nullish(),
        response: { 200: RunView, 404: Problem, 409: Problem },
      },
    },
    async (request) => {
      const { tenant, key } = callerOf(request, 'submitter');
      const run = runIdOf(request.params.run);
      await viewOf(producer, tenant, run);
      await cancelRun(producer, { tenant, run, by: key, reason: request.body?.reason ?? 'no reason was given' });
      return await viewOf(producer, tenant, run);
    },
  );

  app.post(
    '/v1/runs/:run/rerun',
    {
      schema: {
        summary: 'The same once more, on the same inputs or on what their names point to now',
        tags: ['runs'],
        params: RunPath,
        body: z.strictObject({ latestInputs: z.boolean().optional() }).nullish(),
        response: { 202: Accepted, 404: Problem, 422: Problem },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request, 'submitter');
      const latestInputs = request.body?.latestInputs ?? false;
      const answered = await rerun(producer, { caller, run: runIdOf(request.params.run), latestInputs });
      return reply.code(202).header('location', `/v1/runs/${answered.run}`).send(acceptedAs(answered));
    },
  );
}

function labelOf(text: string): [string, string] {
  const at = text.indexOf('=');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
