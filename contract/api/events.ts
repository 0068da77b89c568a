import { z } from 'zod';
import { LogRow } from '../log-rows.ts';
import { RunStatus } from '../result.ts';
import { answerSchema, eventStream, inDigits, ndjson, tagged } from './route.ts';
import { RunParams, ShownResult } from './runs.ts';

/** A row of the log; with `tail`, one row has no bytes and says how many are left out. */
export const ShownRow = answerSchema(
  'LogRow',
  LogRow.extend({ omitted: z.number().int().positive().optional().describe('bytes left out at this place') }),
);
export type ShownRow = z.infer<typeof ShownRow>;

export const RunEvent = answerSchema(
  'RunEvent',
  z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('status'), status: RunStatus, reason: z.string().optional() }),
    LogRow.extend({ type: z.literal('log') }),
    z.strictObject({ type: z.literal('result'), result: ShownResult }),
  ]),
);
export type RunEvent = z.infer<typeof RunEvent>;

const after = inDigits(z.number().int().min(-1)).default(-1).describe('only rows after this sequence number');

const route = tagged('runs');

export const eventRoutes = {
  readLog: route('GET /v1/runs/{run}/logs', 'reader', 'Read what a run wrote', {
    description:
      'NDJSON, a row on each line; empty lines only keep the connection alive. With "Accept: text/event-stream", server-sent events: the id of each is its seq, Last-Event-ID resumes, and the last event is "end".',
    params: RunParams,
    query: z.strictObject({
      after,
      follow: z
        .enum(['true', 'false'])
        .default('false')
        .transform((text) => text === 'true')
        .describe('stay until the run is finished'),
      tail: inDigits(
        z
          .number()
          .int()
          .min(0)
          .max(16 * 1024 * 1024),
      )
        .optional()
        .describe('only the first and the last so many bytes'),
    }),
    headers: z.object({
      'last-event-id': z
        .string()
        .regex(/^\d{1,16}$/, 'must be a sequence number')
        .transform(Number)
        .optional()
        .describe('of server-sent events: as "after"'),
    }),
    answers: {
      200: { description: 'rows as they come', content: { [ndjson]: ShownRow, [eventStream]: ShownRow } },
    },
    problems: [404, 410],
  }),
  followRun: route('GET /v1/runs/{run}/events', 'reader', 'Follow a run: status, log and, last, its result', {
    description: 'NDJSON, an event on each line; empty lines only keep the connection alive.',
    params: RunParams,
    query: z.strictObject({ after }),
    answers: { 200: { description: 'events as they happen', content: { [ndjson]: RunEvent } } },
    problems: [404, 410],
  }),
};
