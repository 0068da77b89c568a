import type { Waiting } from '@hotcell/contract/view.ts';
import type { Live } from '@hotcell/outside/live.ts';
import type { Queues } from '@hotcell/outside/queue.ts';

/** Why a run that nobody has begun is not further, how many are before it, and what would help. */
export async function waitingOf(
  { queues, live }: { queues: Queues; live: Live },
  { run, queue }: { run: string; queue: string },
): Promise<Waiting> {
  const [place, workers, [beat]] = await Promise.all([
    queues.place(queue, run),
    live.workers(),
    live.statusesOf([run]),
  ]);
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
