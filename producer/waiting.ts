import type { RunBeat, WorkerBeat } from '@hotcell/contract/heartbeats.ts';
import { counted } from '@hotcell/contract/format.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { RunId } from '@hotcell/contract/names.ts';
import type { Waiting } from '@hotcell/contract/api/runs.ts';
import { readOpenMarker } from '@hotcell/record/run-marks.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { QueuePlace, Queue } from '@hotcell/outside/queue/queue.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { queuedFrom } from './enqueue.ts';

interface QueuedRun {
  run: string;
  tenant: string;
  queue: string;
}
export interface WaitDeps {
  queues: { of(queue: string): Pick<Queue, 'places'> };
  live: Pick<Live, 'statusesOf'> & { workers: Pick<Live['workers'], 'all'> };
  store: Buckets;
}

const readsAtOnce = 16;

/** Why a run has not begun, how many runs are before it, and what would help. */
export async function waitingOf(deps: WaitDeps, asked: QueuedRun): Promise<Waiting> {
  const [waiting] = await waitingsOf(deps, [asked]);
  return waiting ?? unknown;
}

/** The same for many runs, in their order, with one call to each queue. */
export async function waitingsOf({ queues, live, store }: WaitDeps, asked: readonly QueuedRun[]): Promise<Waiting[]> {
  if (asked.length === 0) return [];
  // Heartbeats first: where Valkey does not answer, this fails sooner than the queues.
  const [workers, beats] = await Promise.all([
    live.workers.all(),
    live.statusesOf(asked.map(({ run }) => RunId.parse(run))),
  ]);
  const places = new Map<string, QueuePlace>();
  const byQueue = Map.groupBy(asked, ({ queue }) => queue);
  await Promise.all(
    [...byQueue].map(async ([queue, those]) => {
      const runs = those.map(({ run }) => run);
      const found = await queues.of(queue).places(runs);
      runs.forEach((run, i) => void places.set(run, found[i] ?? { at: 'missing' }));
    }),
  );
  // A run whose time is far off has no ticket yet.
  const absent = asked.filter(({ run }) => places.get(run)?.at === 'missing');
  await inLanes(readsAtOnce, absent, async ({ run, tenant }) => {
    const marker = await readOpenMarker(store, tenant, RunId.parse(run));
    if (marker?.notBefore === undefined || queuedFrom(marker) <= Date.now()) return;
    places.set(run, { at: 'delayed', due: new Date(marker.notBefore) });
  });
  return asked.map(({ run, queue }, i) => waitingFor(queue, places.get(run) ?? { at: 'missing' }, beats[i], workers));
}

/** When Valkey does not answer. The run is kept all the same: it stands in the bucket. */
export const unknown: Waiting = {
  code: 'queue_unavailable',
  message: 'The queue does not answer. The run is kept and continues when the queue is back.',
  position: null,
};

function waitingFor(
  queue: string,
  place: QueuePlace,
  beat: RunBeat | undefined,
  workers: readonly WorkerBeat[],
): Waiting {
  const serving = workers.filter((worker) => worker.state === 'ready' && worker.queues.includes(queue));
  const position = 'before' in place ? place.before : null;
  if (beat?.waiting) return { ...beat.waiting, position };
  if (place.at === 'missing')
    return { code: 'recovering', message: 'Accepted; recovery is queueing it again.', position };
  if (place.at === 'held') {
    const message =
      'Its tenant has as many running runs, or CPUs in them, as its quotas runningRuns and runningCpus allow. It begins when some of them end.';
    return { code: 'quota', message, position };
  }
  if (place.at === 'delayed')
    return { code: 'later', message: `Not before ${place.due.toISOString()}, as requested.`, position };
  if (serving.length === 0) return { code: 'no_worker', message: whyUnserved(queue, workers), position };
  if (place.at === 'taken') return { code: 'taken', message: 'A worker has taken it and is about to begin.', position };
  const before = place.before === 0 ? 'Next' : `Behind ${counted(place.before, 'other', 'others')}`;
  const message = `${before} in the queue ${queue} (workers: ${serving.length}).${allBusy(serving)}`;
  return { code: 'queued', message, position };
}

/** The operator may have paused them all, or none was started. */
function whyUnserved(queue: string, workers: readonly WorkerBeat[]): string {
  const paused = workers.find((worker) => worker.queues.includes(queue));
  return paused
    ? `Paused: worker ${paused.name} is drained, and no other serves the queue ${queue}. POST /v1/workers/${paused.name}/resume lets it take runs again.`
    : `No worker serves the queue ${queue}. GET /v1/workers lists the workers.`;
}

/** What a run in the queue waits for: a worker takes its next ticket as soon as it has room. */
function allBusy(serving: readonly WorkerBeat[]): string {
  const [one] = serving;
  const isBusy = ({ used, capacity }: WorkerBeat) => used.runs >= capacity.runs || used.cpus >= capacity.cpus;
  if (!one || !serving.every(isBusy)) return '';
  if (serving.length > 1) return ' All of them are busy.';
  return ` ${one.name} is busy: ${counted(one.runs.length, 'run')}, ${one.used.cpus} of ${one.capacity.cpus} CPUs.`;
}
