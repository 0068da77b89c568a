import type { RunBeat, WorkerBeat } from '@hotcell/contract/heartbeats.ts';
import { RunId } from '@hotcell/contract/names.ts';
import type { Waiting } from '@hotcell/contract/api/runs.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Place } from '@hotcell/outside/queue/queue.ts';
import type { Queues } from '@hotcell/outside/queue/queues.ts';

interface Asked {
  run: string;
  queue: string;
}
interface Deps {
  queues: Queues;
  live: Live;
}

/** Why a run that nobody has begun is not further, how many are before it, and what would help. */
export async function waitingOf(deps: Deps, asked: Asked): Promise<Waiting> {
  const [waiting] = await waitingsOf(deps, [asked]);
  return waiting ?? unknown;
}

/** The same for many, with a look or two at each queue for all of them; in the order they were asked for. */
export async function waitingsOf({ queues, live }: Deps, asked: readonly Asked[]): Promise<Waiting[]> {
  if (asked.length === 0) return [];
  // Heartbeats first: whether Valkey answers at all is known sooner here.
  const [workers, beats] = await Promise.all([
    live.workers(),
    live.statusesOf(asked.map(({ run }) => RunId.parse(run))),
  ]);
  const places = new Map<string, Place>();
  const byQueue = Map.groupBy(asked, ({ queue }) => queue);
  await Promise.all(
    [...byQueue].map(async ([queue, those]) => {
      const runs = those.map(({ run }) => run);
      const found = await queues.of(queue).places(runs);
      runs.forEach((run, i) => void places.set(run, found[i] ?? { at: 'missing' }));
    }),
  );
  return asked.map(({ run, queue }, i) => waitingFor(queue, places.get(run) ?? { at: 'missing' }, beats[i], workers));
}

/** Valkey does not say; that the run is kept does not depend on it. */
export const unknown: Waiting = {
  code: 'queue_unavailable',
  message: 'the queue does not answer at the moment; the run is kept and goes on when it is back',
  position: null,
};

function waitingFor(queue: string, place: Place, beat: RunBeat | undefined, workers: readonly WorkerBeat[]): Waiting {
  const serving = workers.filter((worker) => worker.state === 'ready' && worker.queues.includes(queue));
  const position = place.at === 'waiting' ? place.before : null;
  if (beat?.waiting) return { ...beat.waiting, position };
  if (place.at === 'missing')
    return { code: 'recovering', message: 'it is accepted, and its ticket is being made again', position };
  if (place.at === 'delayed')
    return { code: 'later', message: `it is taken up at ${place.due.toISOString()}, or soon after`, position };
  if (serving.length === 0)
    return {
      code: 'no_worker',
      message: `no worker takes runs from the queue ${queue}: see ./hotcell workers ls`,
      position,
    };
  if (place.at === 'taken') return { code: 'taken', message: 'a worker has its ticket and begins', position };
  const before = place.before === 0 ? 'it is the next' : `${place.before} runs are before it`;
  return { code: 'queued', message: `${before} in the queue ${queue} (workers: ${serving.length})`, position };
}
