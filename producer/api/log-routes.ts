import { LogRow } from '@hotcell/contract/log-rows.ts';
import { z } from 'zod';
import { eventsOf } from '../follow/run-events.ts';
import { headAndTail } from '../logs/head-and-tail.ts';
import { readLog } from '../logs/read.ts';
import type { Producer } from '../producer.ts';
import { runIdOf, viewOf } from '../view-run.ts';
import { type App, callerOf } from './app.ts';
import { Problem } from './problem.ts';
import { RunPath } from './run-routes.ts';
import { endsWith, jsonLines, ndjson, streamed } from './streams.ts';

const sse = 'text/event-stream';
const after = z.coerce.number().int().min(-1).default(-1);

export function logRoutes(app: App, producer: Producer): void {
  app.get(
    '/v1/runs/:run/logs',
    {
      schema: {
        summary: 'What the run wrote: NDJSON, or server-sent events when asked for',
        description:
          'Rows by seq are the stream; empty lines only say that the connection lives. As events (Accept: text/event-stream) each has its seq as id, Last-Event-ID resumes, and the last is "end". "tail" gives the first and the last so many bytes.',
        tags: ['runs'],
        params: RunPath,
        querystring: z.strictObject({
          after,
          follow: z.stringbool().default(false),
          tail: z.coerce
            .number()
            .int()
            .min(0)
            .max(16 * 1024 * 1024)
            .optional(),
        }),
        response: { 200: LogRow, 404: Problem },
      },
    },
    async (request, reply) => {
      const { tenant } = callerOf(request);
      const run = runIdOf(request.params.run);
      await viewOf(producer, tenant, run);
      const asEvents = String(request.headers.accept ?? '').includes(sse);
      const { follow, tail } = request.query;
      const signal = endsWith(reply, producer);
      const from = asEvents ? resumedAt(request.headers['last-event-id'], request.query.after) : request.query.after;
      const rows = readLog(producer, { tenant, run }, { after: from, follow: asEvents || follow, signal });
      if (asEvents) return streamed(reply, producer, sse, ':\n\n', events(rows, signal));
      return streamed(reply, producer, ndjson, '\n', jsonLines(tail === undefined ? rows : headAndTail(rows, tail)));
    },
  );

  app.get(
    '/v1/runs/:run/events',
    {
      schema: {
        summary: 'Everything that happens to the run, as NDJSON: status, log, and last its result',
        tags: ['runs'],
        params: RunPath,
        querystring: z.strictObject({ after }),
      },
    },
    async (request, reply) => {
      const { tenant } = callerOf(request);
      const run = runIdOf(request.params.run);
      await viewOf(producer, tenant, run);
      const followed = { tenant, run, after: request.query.after, signal: endsWith(reply, producer) };
      return streamed(reply, producer, ndjson, '\n', jsonLines(eventsOf(producer, followed)));
    },
  );
}

function resumedAt(lastEventId: string | string[] | undefined, asked: number): number {
  const last = Number(lastEventId);
  return typeof lastEventId === 'string' && Number.isSafeInteger(last) && last >= 0 ? last : asked;
}

async function* events(rows: AsyncIterable<LogRow>, signal: AbortSignal): AsyncGenerator<string> {
  for await (const row of rows) yield `id: ${row.seq}\nevent: log\ndata: ${JSON.stringify(row)}\n\n`;
  if (!signal.aborted) yield 'event: end\ndata: {}\n\n';
}
