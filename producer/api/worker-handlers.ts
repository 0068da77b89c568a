import type { Rebuilt } from '@hotcell/contract/api/workers.ts';
import { ndjson } from '@hotcell/contract/api/route.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { WorkerOrder } from '@hotcell/outside/live/worker-heartbeats.ts';
import type { Producer } from '../producer.ts';
import { compareAll } from '../readmodel/compare-shard.ts';
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
      await order(producer, name, 'drain');
      reply.code(202);
      return { worker: name, state: 'draining' as const };
    },

    async resumeWorker({ params: { name }, reply }) {
      await order(producer, name, 'resume');
      reply.code(202);
      return { worker: name, state: 'ready' as const };
    },

    async rebuild({ reply }) {
      const signal = endsWith(reply, producer);
      return streamed(reply, producer, ndjson, '\n', jsonLines(rebuilt(producer, signal)));
    },
  } satisfies Partial<Handlers>;
}

async function order({ live }: Producer, name: string, what: WorkerOrder): Promise<void> {
  if (!(await live.workers.all()).some((worker) => worker.name === name))
    throw new HotcellError('not_found', `Worker ${name} not found. GET /v1/workers lists the workers.`);
  await live.workers.order(name, what);
}

/** Tickets of all open runs, and the lists, from the buckets alone. */
async function* rebuilt(producer: Producer, signal: AbortSignal): AsyncGenerator<Rebuilt> {
  await producer.reconciler.sweepAll();
  await producer.follower.rebuild(signal);
  await compareAll({ ...producer, signal });
  yield { runs: await producer.model.count() };
}
