import { hostname } from 'node:os';
import type { CellBeat, WorkerBeat } from '@hotcell/contract/heartbeats.ts';
import type { Worker } from '../worker.ts';

const everyMs = 2_000;

export interface Registered extends AsyncDisposable {
  /** Say it now, because something of it changed. */
  say(): Promise<void>;
}

/** Who this worker is, what it can take and what it has: said every two seconds, forgotten when it is not said. */
export function register(
  worker: Worker,
  about: {
    queues: readonly string[];
    state: () => WorkerBeat['state'];
    askedToDrain: () => void;
    stuck: () => CellBeat[];
  },
): Registered {
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
      // What is told of a cell that could not be removed comes last, and counts.
      cells: [...new Map([...worker.cells.values(), ...about.stuck()].map((cell) => [cell.id, cell])).values()],
      startedAt,
      at: new Date().toISOString(),
    };
    try {
      if (await live.workerBeat(beat)) about.askedToDrain();
    } catch (error) {
      log.debug({ error }, 'Valkey does not hear that this worker is here');
    }
  };
  const timer = setInterval(() => void say(), everyMs);
  void say();
  return {
    say,
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await live.workerGone(name).catch((error: unknown) => {
        log.debug({ error }, 'its entry is forgotten when its time is over');
      });
    },
  };
}
