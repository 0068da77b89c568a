import { once } from 'node:events';
import { Queues } from '@hotcell/outside/queue/queues.ts';

/** Takes one ticket and holds it until it is killed. */
const { QUEUE_URL: url = '', QUEUE_INSTALLATION: installation = '' } = process.env;
new Queues({ url, installation }).of('kept').pull({
  atOnce: 1,
  serve: async ({ id }) => {
    process.stderr.write(`holding ${id}\n`);
    await once(process, 'never');
    return { kind: 'done' };
  },
  acked: () => undefined,
  lockLost: () => undefined,
  problem: (error) => {
    throw error;
  },
});
