import type { Producer } from '../producer.ts';
import { rebuild } from '../rebuild.ts';
import { type App, operatorOf } from './app.ts';
import { endsWith, jsonLines, ndjson, streamed } from './streams.ts';

export function rebuildRoutes(app: App, producer: Producer): void {
  app.post(
    '/v1/rebuild',
    {
      schema: {
        summary: 'Make the tickets and the lists anew from the buckets',
        description: 'One line of NDJSON when it is done; empty lines until then.',
        tags: ['workers'],
      },
    },
    async (request, reply) => {
      operatorOf(request);
      const signal = endsWith(reply, producer);
      return streamed(reply, producer, ndjson, '\n', jsonLines(once(() => rebuild(producer, signal))));
    },
  );
}

async function* once<T>(work: () => Promise<T>): AsyncGenerator<T> {
  yield await work();
}
