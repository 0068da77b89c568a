import { HotcellError } from '@hotcell/contract/errors.ts';
import { RefusedTicket, WorkerBeat } from '@hotcell/contract/heartbeats.ts';
import { z } from 'zod';
import type { Producer } from '../producer.ts';
import { type App, operatorOf } from './app.ts';
import { Problem } from './problem.ts';

const Workers = z.strictObject({
  workers: z.array(WorkerBeat),
  refusedTickets: z.strictObject({ count: z.number().int(), last: z.array(RefusedTicket) }),
});

export function workerRoutes(app: App, producer: Producer): void {
  app.get(
    '/v1/workers',
    {
      schema: {
        summary: 'The workers, their cells, and tickets that were refused',
        tags: ['workers'],
        response: { 200: Workers },
      },
    },
    async (request) => {
      operatorOf(request);
      const [workers, refusedTickets] = await Promise.all([producer.live.workers(), producer.live.refusedTickets()]);
      return { workers, refusedTickets };
    },
  );

  app.post(
    '/v1/workers/:name/drain',
    {
      schema: {
        summary: 'Take nothing more, finish what runs',
        tags: ['workers'],
        params: z.strictObject({ name: z.string() }),
        response: { 202: z.strictObject({ worker: z.string(), state: z.literal('draining') }), 404: Problem },
      },
    },
    async (request, reply) => {
      operatorOf(request);
      const { name } = request.params;
      if (!(await producer.live.workers()).some((worker) => worker.name === name))
        throw new HotcellError('not_found', `there is no worker ${name}: ./hotcell workers ls lists them`);
      await producer.live.drainWorker(name);
      return reply.code(202).send({ worker: name, state: 'draining' });
    },
  );
}
