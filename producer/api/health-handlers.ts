import { setTimeout as pause } from 'node:timers/promises';
import { reachMarks } from '@hotcell/record/run-marks.ts';
import { openApi } from '@hotcell/contract/api/openapi.ts';
import type { Gauge } from '../metrics.ts';
import type { Producer } from '../producer.ts';
import type { Handlers } from './register-routes.ts';

const answerWithinMs = 3_000;

export function healthHandlers(producer: Producer) {
  const described = openApi();
  return {
    isAlive: async () => ({ status: 'ok' as const }),

    async isReady({ reply }) {
      const [redis, bucket] = await Promise.all([answers(producer.live.ping()), answers(reachMarks(producer.store))]);
      const status = producer.draining.aborted ? 'draining' : redis && bucket ? 'ready' : 'not_ready';
      reply.code(status === 'ready' ? 200 : 503);
      return { status, checks: { redis, bucket } };
    },

    getMetrics: async ({ reply }) =>
      reply.type('text/plain; version=0.0.4; charset=utf-8').send(producer.metrics.exposition(await gauges(producer))),

    getOpenApi: async () => described,
  } satisfies Partial<Handlers>;
}

/** A part that hangs counts as one that does not answer. */
async function answers(asked: Promise<unknown>): Promise<boolean> {
  const late = pause(answerWithinMs, false, { ref: false });
  return await Promise.race([asked.then(() => true), late]).catch(() => false);
}

async function gauges(producer: Producer): Promise<Gauge[]> {
  const workers = await producer.live.workers.all().catch(() => []);
  const queues = [...new Set(['runc', ...workers.flatMap((worker) => worker.queues)])];
  const depths = await Promise.all(
    // A queue that cannot be read has no row: no figure is better than a wrong one.
    queues.map(async (queue) => ({
      queue,
      depth: await producer.queues
        .of(queue)
        .depth()
        .catch(() => undefined),
    })),
  );
  const cells = workers.flatMap((worker) => worker.cells);
  return [
    {
      name: 'hotcell_queue_depth',
      help: 'Tickets waiting, by queue.',
      rows: depths.flatMap(({ queue, depth }) => (depth === undefined ? [] : [{ labels: { queue }, value: depth }])),
    },
    {
      name: 'hotcell_workers',
      help: 'Workers with a heartbeat, by state.',
      rows: [...Map.groupBy(workers, (worker) => worker.state)].map(([state, all]) => ({
        labels: { state },
        value: all.length,
      })),
    },
    {
      name: 'hotcell_runs_executing',
      help: 'Runs that workers have now.',
      rows: [{ labels: {}, value: workers.reduce((sum, worker) => sum + worker.runs.length, 0) }],
    },
    {
      name: 'hotcell_requests_waiting',
      help: 'Requests that wait for their share of this process, by limit.',
      rows: Object.values(producer.doors).map(({ name, waiting }) => ({ labels: { limit: name }, value: waiting })),
    },
    {
      name: 'hotcell_cells',
      help: 'Cells of all workers, by state.',
      rows: [...Map.groupBy(cells, (cell) => cell.state)].map(([state, all]) => ({
        labels: { state },
        value: all.length,
      })),
    },
    {
      name: 'hotcell_cell_starts',
      help: 'Runs since their workers began: in a cell that had waited (warm), or in a new one, by the reason.',
      rows: workers.flatMap(({ name: worker, starts = {} }) =>
        Object.entries(starts).map(([start, value]) => ({ labels: { worker, start }, value })),
      ),
    },
  ];
}
