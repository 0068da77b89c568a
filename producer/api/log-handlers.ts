import { eventStream, ndjson } from '@hotcell/contract/api/route.ts';
import type { LogRow } from '@hotcell/contract/log-rows.ts';
import { refuseErased } from '@hotcell/record/erasures.ts';
import { eventsOf } from '../follow/run-events.ts';
import { headAndTail } from '@hotcell/record/head-and-tail.ts';
import { readLog } from '../logs/read.ts';
import type { Producer } from '../producer.ts';
import { runIdOf, viewOf } from '../view-run.ts';
import type { Handlers } from './register-routes.ts';
import { endsWith, heldFor, jsonLines, streamed } from './streams.ts';

export function logHandlers(producer: Producer) {
  const { streams } = producer;
  return {
    async readLog({ caller: { tenant }, params, query, headers, request, reply }) {
      const run = runIdOf(params.run);
      const { status } = await viewOf(producer, tenant, run);
      if (status === 'finished') await refuseErased(producer.bulk, tenant, run);
      heldFor(reply, streams.take(tenant));
      const asEvents = String(request.headers.accept ?? '').includes(eventStream);
      const { follow, tail } = query;
      const signal = endsWith(reply, producer);
      const after = (asEvents ? headers['last-event-id'] : undefined) ?? query.after;
      const rows = readLog(producer, { tenant, run }, { after, follow: asEvents || follow, signal });
      if (asEvents) return streamed(reply, producer, eventStream, ':\n\n', events(rows, signal));
      return streamed(reply, producer, ndjson, '\n', jsonLines(tail === undefined ? rows : headAndTail(rows, tail)));
    },

    async followRun({ caller: { tenant }, params, query: { after }, reply }) {
      const run = runIdOf(params.run);
      await viewOf(producer, tenant, run);
      heldFor(reply, streams.take(tenant));
      const followed = { tenant, run, after, signal: endsWith(reply, producer) };
      return streamed(reply, producer, ndjson, '\n', jsonLines(eventsOf(producer, followed)));
    },
  } satisfies Partial<Handlers>;
}

async function* events(rows: AsyncIterable<LogRow>, signal: AbortSignal): AsyncGenerator<string> {
  for await (const row of rows) yield `id: ${row.seq}\nevent: log\ndata: ${JSON.stringify(row)}\n\n`;
  if (!signal.aborted) yield 'event: end\ndata: {}\n\n';
}
