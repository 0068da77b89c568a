import { ndjson } from '@hotcell/contract/api/route.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Producer } from '../producer.ts';
import { rebuild } from '../rebuild.ts';
import type { Handlers } from './register-routes.ts';
import { endsWith, jsonLines, streamed } from './streams.ts';

export function workerHandlers(producer: Producer) {
  const { live } = producer;
  return {
    async listWorkers() {
      const [workers, refusedTickets] = await Promise.all([live.workers.all(), live.refused.all()]);
      return { workers, refusedTickets };
    },

    async drainWorker({ params: { name }, reply }) {
      if (!(await live.workers.all()).some((worker) => worker.name === name))
        throw new HotcellError('not_found', `Worker ${name} not found. GET /v1/workers lists the workers.`);
      await live.workers.drain(name);
      reply.code(202);
      return { worker: name, state: 'draining' as const };
    },

    async rebuild({ reply }) {
      const signal = endsWith(reply, producer);
      return streamed(reply, producer, ndjson, '\n', jsonLines(once(() => rebuild(producer, signal))));
    },
  } satisfies Partial<Handlers>;
}

async function* once<T>(work: () => Promise<T>): AsyncGenerator<T> {
  yield await work();
}
