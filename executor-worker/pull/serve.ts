import { once } from 'node:events';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import type { CellBeat, WorkerBeat } from '@hotcell/contract/heartbeats.ts';
import { TicketReader } from '@hotcell/contract/ticket-signing.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import { Pull, type Pulled, type Served } from '@hotcell/outside/queue/queue.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { patiently } from '@hotcell/record/patience.ts';
import { Capacity } from './capacity.ts';
import type { WorkerSettings } from '../worker-config.ts';
import { drain } from './drain.ts';
import { Heartbeat } from './heartbeat.ts';
import { register } from './registry.ts';
import { run } from '../run.ts';
import type { Steps, Worker } from '../worker.ts';

/** As long as it takes another worker to be given a ticket, and to say so. */
const passOnMs = 3_000;

export interface ServeOptions {
  settings: WorkerSettings;
  store: Buckets;
  live: Live;
  log: Logger;
  steps: Steps;
  /** Cells that could not be removed yet. */
  stuck?: () => CellBeat[];
}

/** Take tickets and run them, until `ends` is aborted; then drain, and return when nothing is left here. */
export async function serve(
  { settings, store, live, log, steps, stuck = () => [] }: ServeOptions,
  ends: AbortSignal,
): Promise<void> {
  const pulls: Pull[] = [];
  const mostRuns = settings.HOTCELL_RUNS;
  const total = { cpus: settings.HOTCELL_CPUS, memoryBytes: settings.HOTCELL_MEMORY_BYTES, runs: mostRuns };
  let waiting = false;
  let passing: NodeJS.Timeout | undefined;
  // A ticket that waits here for room could have it elsewhere: no more are taken until it has.
  const hold = () => {
    for (const pull of pulls) pull.hold(waiting || passing ? 1 : mostRuns);
  };
  const capacity = new Capacity(total, (now) => {
    waiting = now;
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
    heartbeat,
    capacity,
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
    log.info('asked to take nothing more');
    for (const pull of pulls) void pull.stop();
  };
  // Who begins anew was not asked to drain.
  await live.undrainWorker(worker.name).catch((error: unknown) => log.warn({ error }, 'Valkey is not there yet'));
  await using registered = register(worker, {
    queues: settings.HOTCELL_QUEUES,
    state: () => (state === 'draining' && worker.runs.size === 0 ? 'drained' : state),
    askedToDrain: stopTaking,
    stuck,
  });
  using _events = await live.onEvent((event) => {
    if (event.type === 'cancel') worker.runs.get(event.run)?.cancelled();
    if (event.type === 'drain' && event.worker === worker.name) void registered.say();
  });
  // Nudges may have been missed, and copies lost: everything is looked up where it stands.
  using _back = live.onReconnected(() => {
    for (const control of worker.runs.values()) control.doubt();
  });
  const taking = () => state === 'ready';
  for (const queue of settings.HOTCELL_QUEUES) pulls.push(pullFrom(worker, queue, settings, taking));
  log.info({ worker: worker.name, queues: settings.HOTCELL_QUEUES, capacity: total }, 'ready for tickets');
  if (!ends.aborted) await once(ends, 'abort');
  stopTaking();
  void registered.say();
  await drain(worker, pulls, settings.HOTCELL_DRAIN_SECONDS * 1000);
  await Promise.all(pulls.map((pull) => pull.close()));
}

function pullFrom(worker: Worker, queue: string, settings: WorkerSettings, taking: () => boolean): Pull {
  const { HOTCELL_REDIS_URL: url, HOTCELL_INSTALLATION: installation } = settings;
  return new Pull(
    { url, installation },
    {
      queue,
      atOnce: settings.HOTCELL_RUNS,
      // One more may come out of the queue while it is being left.
      serve: async (pulled) => (taking() ? serveTicket(worker, queue, pulled) : { kind: 'back' }),
      acked: () => crashPoint('worker.acked'),
      lockLost: (id) => worker.runs.get(id)?.lockLost(),
      problem: (error) => worker.log.warn({ queue, error }, 'the queue has a problem'),
    },
  );
}

/** A ticket that is not believed is counted and shown, and the queue goes on. */
async function serveTicket(worker: Worker, queue: string, pulled: Pulled): Promise<Served> {
  try {
    return await run(worker, queue, pulled);
  } catch (error) {
    const refused = error instanceof HotcellError && error.code === 'ticket_refused';
    worker.log.warn({ queue, id: pulled.id, error }, refused ? 'refused a ticket' : 'a ticket could not be served');
    if (!refused) return { kind: 'later', afterMs: 5_000 };
    const why = messageOf(error);
    await worker.live
      .refusedTicket({ at: new Date().toISOString(), queue, id: pulled.id.slice(0, 128), why })
      .catch((lost: unknown) => worker.log.warn({ error: lost }, 'the refusal could not be counted'));
    return { kind: 'refused', why };
  }
}
