import type { Pull, Pulled, Queue, Served } from '@hotcell/outside/queue/queue.ts';
import { until } from '../support/until.ts';

export interface Consumer extends AsyncDisposable {
  readonly pull: Pull;
  /** What was taken, in order. */
  readonly taken: Pulled[];
  readonly acked: string[];
  readonly lostLocks: string[];
  /** The ids of the first so many tickets, as soon as they are taken. */
  first(count: number): Promise<string[]>;
}

export function consume(
  queue: Queue,
  serve: (pulled: Pulled) => Promise<Served> = async () => ({ kind: 'done' }),
  atOnce = 1,
): Consumer {
  const [taken, acked, lostLocks] = [[] as Pulled[], [] as string[], [] as string[]];
  const pull = queue.pull({
    atOnce,
    serve: (pulled) => {
      taken.push(pulled);
      return serve(pulled);
    },
    acked: (run) => void acked.push(run),
    lockLost: (run) => void lostLocks.push(run),
    problem: (error) => {
      throw error;
    },
  });
  return {
    pull,
    taken,
    acked,
    lostLocks,
    async first(count) {
      await until(`${count} tickets are taken`, async () => taken.length >= count);
      return taken.slice(0, count).map(({ id }) => id);
    },
    async [Symbol.asyncDispose]() {
      await pull.stop();
      await pull.idle();
      await pull.close();
    },
  };
}
