import { once } from 'node:events';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import type { CellBeat, LiveEvent, WorkerBeat } from '@hotcell/contract/heartbeats.ts';
import { TicketReader } from '@hotcell/contract/ticket-signing.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { FairShare } from '@hotcell/outside/process/fair-share.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { WorkerOrder } from '@hotcell/outside/live/worker-heartbeats.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { Pull, Pulled, Served } from '@hotcell/outside/queue/queue.ts';
import { Queues } from '@hotcell/outside/queue/queues.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { patiently } from '@hotcell/record/patience.ts';
import type { Signer } from '@hotcell/record/signer.ts';
import { PostureForms } from '@hotcell/record/posture-store.ts';
import { Capacity } from './capacity.ts';
import type { WorkerSettings } from '../worker-config.ts';
import { Heartbeat } from './heartbeat.ts';
import { register } from './registry.ts';
import { run } from '../run.ts';
import type { WaitingCells } from '../waiting/pool.ts';
import type { Steps, Worker } from '../worker.ts';

/** An eighth of the memory that docker-compose.yml gives a worker. */
const outputRoomBytes = 256 * 1024 ** 2;

/** The time it takes another worker to be given a ticket and to report it. */
const passOnMs = 3_000;

export interface ServeOptions {
  settings: WorkerSettings;
  store: Buckets;
  live: Live;
  log: Logger;
  steps: Steps;
  signer: Signer;
  /** Cells that could not be removed yet. */
  stuck?: () => CellBeat[];
  waiting?: Pick<WaitingCells, 'fill' | 'empty' | 'beats' | 'starts'>;
  /** What the cache of inputs takes of the disk. */
  cacheBytes?: () => number;
}

/** Takes tickets and runs them until `ends` is aborted; then drains, and returns when nothing is left here. */
export async function serve(
  { settings, store, live, log, steps, signer, waiting, stuck = () => [], cacheBytes }: ServeOptions,
  ends: AbortSignal,
): Promise<void> {
  const pulls: Pull[] = [];
  const mostRuns = settings.HOTCELL_RUNS;
  const total = { cpus: settings.HOTCELL_CPUS, memoryBytes: settings.HOTCELL_MEMORY_BYTES, runs: mostRuns };
  let isFull = false;
  let passing: NodeJS.Timeout | undefined;
  // A ticket that waits here for room might have it on another worker: no more are taken until it has.
  const hold = () => {
    for (const pull of pulls) pull.hold(isFull || passing ? 1 : mostRuns);
  };
  const capacity = new Capacity(total, (now) => {
    isFull = now;
    hold();
  });
  const passOn = () => {
    clearTimeout(passing);
    passing = setTimeout(() => {
      passing = undefined;
      hold();
    }, passOnMs).unref();
    hold();
  };
  using heartbeat = new Heartbeat(live, log);
  const worker: Worker = {
    name: settings.HOTCELL_WORKER_NAME,
    installation: settings.HOTCELL_INSTALLATION,
    store,
    live,
    tickets: new TicketReader(settings.HOTCELL_TICKET_PUBLIC_KEY),
    signer,
    heartbeat,
    capacity,
    outputRoom: new FairShare({ limit: 'outputs', what: 'bytes of outputs on their way', total: outputRoomBytes }),
    postures: new PostureForms(store),
    passOn,
    steps,
    log,
    patience: patiently,
    runs: new Map(),
    cells: new Map(),
    leaving: new Set(),
  };
  let state: WorkerBeat['state'] = 'ready';
  const stopTaking = () => {
    if (state !== 'ready') return;
    state = 'draining';
    log.info('draining: taking no more tickets');
    void waiting?.empty();
    for (const pull of pulls) void pull.stop();
  };
  const ordered = (order: WorkerOrder) => {
    if (order === 'drain') return stopTaking();
    if (ends.aborted || state === 'ready') return;
    state = 'ready';
    log.info('resumed: taking tickets again');
    waiting?.fill(capacity);
    for (const pull of pulls) pull.resume();
    void registered.say();
  };
  // An order does not outlive a restart.
  await live.workers.forgetOrder(worker.name).catch((error: unknown) => log.warn({ error }, 'Valkey is not ready yet'));
  await using registered = register(worker, {
    queues: settings.HOTCELL_QUEUES,
    state: () => (state === 'draining' && worker.runs.size === 0 ? 'drained' : state),
    ordered,
    cells: () => [...(waiting?.beats ?? []), ...stuck()],
    starts: () => waiting?.starts ?? {},
    cacheBytes,
  });
  using _events = await live.onEvent((event) => {
    if (event.type === 'cancel') void worker.runs.get(event.run)?.look();
    if (event.type === 'step') toldOfStep(worker, event);
    if (event.type === 'drain' && event.worker === worker.name) void registered.say();
  });
  // Events may have been missed meanwhile: every run asks the bucket.
  using _back = live.onReconnected(() => {
    for (const control of worker.runs.values()) {
      void control.look();
      control.nudges.recorded();
    }
  });
  const taking = () => state === 'ready';
  await using queues = new Queues({ url: settings.HOTCELL_REDIS_URL, installation: worker.installation });
  for (const queue of settings.HOTCELL_QUEUES) pulls.push(pullFrom(worker, queues, queue, mostRuns, taking));
  if (taking()) waiting?.fill(capacity);
  log.info({ worker: worker.name, queues: settings.HOTCELL_QUEUES, capacity: total }, 'ready for tickets');
  if (!ends.aborted) await once(ends, 'abort');
  stopTaking();
  void registered.say();
  await drain(worker, pulls, settings.HOTCELL_DRAIN_SECONDS * 1000);
  await waiting?.empty();
  await Promise.all(pulls.map((pull) => pull.close()));
}

function toldOfStep(worker: Worker, { run, step, what }: Extract<LiveEvent, { type: 'step' }>): void {
  const nudges = worker.runs.get(run)?.nudges;
  if (what === 'recorded') nudges?.recorded();
  if (what === 'interrupt') nudges?.interrupt(step);
}

function pullFrom(worker: Worker, queues: Queues, name: string, atOnce: number, taking: () => boolean): Pull {
  return queues.of(name).pull({
    atOnce,
    // One more ticket may come out of the queue while the worker stops pulling.
    serve: async (pulled) => (taking() ? serveTicket(worker, name, pulled) : { kind: 'back' }),
    acked: () => crashPoint('worker.acked'),
    lockLost: (run) => worker.runs.get(run)?.lockLost(),
    problem: (error) => worker.log.warn({ queue: name, error }, 'the queue reported a problem'),
  });
}

/** Drain: what is here comes to its end, or is handed back when the grace is over. */
async function drain(worker: Worker, pulls: readonly Pull[], graceMs: number): Promise<void> {
  await Promise.all(pulls.map((pull) => pull.stop()));
  const handBack = setTimeout(() => {
    for (const control of worker.runs.values()) control.drain();
  }, graceMs);
  await Promise.all(pulls.map((pull) => pull.idle()));
  clearTimeout(handBack);
  await Promise.all(worker.leaving);
}

/** A ticket that is refused is counted and shown, and the queue goes on. */
async function serveTicket(worker: Worker, queue: string, pulled: Pulled): Promise<Served> {
  try {
    return await run(worker, queue, pulled);
  } catch (error) {
    const refused = error instanceof HotcellError && error.code === 'ticket_refused';
    worker.log.warn({ queue, id: pulled.id, error }, refused ? 'refused a ticket' : 'failed to serve a ticket');
    if (!refused) return { kind: 'later', afterMs: 5_000 };
    const why = messageOf(error);
    await worker.live.refused
      .add({ at: new Date().toISOString(), queue, id: pulled.id.slice(0, 128), why })
      .catch((lost: unknown) => worker.log.warn({ error: lost }, 'failed to count the refusal'));
    return { kind: 'refused', why };
  }
}
