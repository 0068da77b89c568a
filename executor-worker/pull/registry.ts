import { hostname } from 'node:os';
import type { CellBeat, WorkerBeat } from '@hotcell/contract/heartbeats.ts';
import type { WorkerOrder } from '@hotcell/outside/live/worker-heartbeats.ts';
import type { Worker } from '../worker.ts';

const everyMs = 2_000;

/** Reports every two seconds who this worker is, what it can take and what it has. Valkey forgets it otherwise. */
export function register(
  worker: Worker,
  about: {
    queues: readonly string[];
    state: () => WorkerBeat['state'];
    ordered: (order: WorkerOrder) => void;
    /** Those that no run has: they wait, or could not be removed. */
    cells: () => CellBeat[];
    starts: () => Record<string, number>;
    cacheBytes: (() => number) | undefined;
  },
) {
  const startedAt = new Date().toISOString();
  const { live, log, name, capacity } = worker;
  const say = async () => {
    const beat: WorkerBeat = {
      name,
      host: hostname(),
      state: about.state(),
      queues: [...about.queues],
      capacity: capacity.total,
      used: capacity.used,
      runs: [...worker.runs.keys()],
      // A stuck cell's own entry comes last, and replaces the other one.
      cells: [...new Map([...worker.cells.values(), ...about.cells()].map((cell) => [cell.id, cell])).values()],
      starts: about.starts(),
      ...(about.cacheBytes && { cacheBytes: about.cacheBytes() }),
      startedAt,
      at: new Date().toISOString(),
    };
    try {
      const order = await live.workers.beat(beat);
      if (order) about.ordered(order);
    } catch (error) {
      log.debug({ error }, 'failed to report this worker to Valkey');
    }
  };
  const timer = setInterval(() => void say(), everyMs);
  void say();
  return {
    /** Reports now, because something changed. */
    say,
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await live.workers.gone(name).catch((error: unknown) => {
        log.debug({ error }, 'failed to remove the entry of this worker; it expires by itself');
      });
    },
  };
}
