import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { Gauge } from '../metrics.ts';
import type { Producer } from '../producer.ts';
import { type App, callerOf } from './app.ts';

const answerWithinMs = 3_000;

const Ready = z.strictObject({
  status: z.enum(['ready', 'not_ready', 'draining']),
  checks: z.strictObject({ redis: z.boolean(), bucket: z.boolean() }),
});

export function healthRoutes(app: App, producer: Producer): void {
  app.get(
    '/healthz',
    {
      schema: {
        summary: 'This process answers',
        security: [],
        tags: ['health'],
        response: { 200: z.strictObject({ status: z.literal('ok') }) },
      },
    },
    async () => ({ status: 'ok' as const }),
  );

  app.get(
    '/readyz',
    {
      schema: {
        summary: 'Runs can be asked for',
        security: [],
        tags: ['health'],
        response: { 200: Ready, 503: Ready },
      },
    },
    async (_request, reply) => {
      const [redis, bucket] = await Promise.all([answers(producer.live.ping()), answers(reachBucket(producer))]);
      const status = producer.draining.aborted ? 'draining' : redis && bucket ? 'ready' : 'not_ready';
      return reply.code(status === 'ready' ? 200 : 503).send({ status, checks: { redis, bucket } });
    },
  );

  app.get(
    '/metrics',
    { schema: { summary: 'Figures in the form that Prometheus reads', tags: ['health'] } },
    async (request, reply) => {
      callerOf(request);
      return reply
        .type('text/plain; version=0.0.4; charset=utf-8')
        .send(producer.metrics.exposition(await gauges(producer)));
    },
  );

  app.get(
    '/openapi.json',
    { schema: { summary: 'This description', tags: ['health'], response: { 200: z.looseObject({}) } } },
    async (request) => {
      callerOf(request);
      return { ...app.swagger() };
    },
  );
}

/** A part that hangs is a part that does not answer. */
async function answers(asked: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const late = pause(answerWithinMs, false, { signal: over.signal }).catch(() => false);
  try {
    return await Promise.race([asked.then(() => true), late]);
  } catch {
    return false;
  } finally {
    over.abort();
  }
}

async function reachBucket({ store }: Producer): Promise<void> {
  for await (const _ of store.list(store.work, 'open/', { pageSize: 1 })) break;
}

async function gauges(producer: Producer): Promise<Gauge[]> {
  const workers = await producer.live.workers().catch(() => []);
  const queues = [...new Set(['runc', ...workers.flatMap((worker) => worker.queues)])];
  const depths = await Promise.all(
    // A queue that cannot be asked has no row: no figure is better than a wrong one.
    queues.map(async (queue) => ({ queue, depth: await producer.queues.depth(queue).catch(() => undefined) })),
  );
  return [
    {
      name: 'hotcell_queue_depth',
      help: 'Tickets that wait, by queue.',
      rows: depths.flatMap(({ queue, depth }) => (depth === undefined ? [] : [{ labels: { queue }, value: depth }])),
    },
    {
      name: 'hotcell_workers',
      help: 'Workers that say they live, by state.',
      rows: [...Map.groupBy(workers, (worker) => worker.state)].map(([state, all]) => ({
        labels: { state },
        value: all.length,
      })),
    },
    {
      name: 'hotcell_runs_executing',
      help: 'Runs that workers have at the moment.',
      rows: [{ labels: {}, value: workers.reduce((sum, worker) => sum + worker.runs.length, 0) }],
    },
  ];
}
