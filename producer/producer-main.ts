import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { TicketSigner } from '@hotcell/contract/ticket-signing.ts';
import { armCrashPoint } from '@hotcell/outside/process/crash.ts';
import { Contents, loadSources } from '@hotcell/record/contents.ts';
import { openEnding } from '@hotcell/outside/process/ending.ts';
import { Live } from '@hotcell/outside/live/live.ts';
import { type Logger, openLog } from '@hotcell/outside/process/log.ts';
import { probeAtStart } from '@hotcell/outside/process/probe-at-start.ts';
import { Queues } from '@hotcell/outside/queue/queues.ts';
import { Buckets, bucketsFrom } from '@hotcell/record/buckets.ts';
import { buildServer } from './api/server.ts';
import { KeyRing } from './auth/keyring.ts';
import { Bounds } from './queue-bounds.ts';
import { type ProducerSettings, readProducerSettings } from './producer-config.ts';
import { Metrics } from './metrics.ts';
import { News } from './news.ts';
import type { Producer } from './producer.ts';
import { PolicyPins } from './policies/pin.ts';
import { PolicyShelf } from './policies/shelf.ts';
import { keepReadModel } from './readmodel/keep-read-model.ts';
import { ReadModel } from './readmodel/read-model.ts';
import { Reconciler } from './reconcile.ts';

/** How long requests may still take when we are asked to end; accepted runs are in the bucket in any case. */
const drainMs = 10_000;
const lameMs = 1_000;
/** The process has ended by then, even if a part does not answer. */
const endMs = 15_000;

const settings = readProducerSettings(process.env);
const log = openLog('producer', settings.HOTCELL_LOG_LEVEL);
using ending = openEnding(log, endMs);
await main(settings, log, ending.asked);

async function main(settings: ProducerSettings, log: Logger, draining: AbortSignal): Promise<void> {
  armCrashPoint(settings.HOTCELL_CRASH_AT);
  await using stack = new AsyncDisposableStack();
  const producer = await openProducer(settings, log, draining, stack);
  const { HOTCELL_LISTEN_HOST: host, HOTCELL_LISTEN_PORT: port } = settings;
  const server = buildServer(producer);
  const address = await server.listen({ host, port });
  stack.use(keepReadModel(producer));
  producer.log.info({ address }, 'the producer answers');
  await ended(draining);
  producer.log.info('draining: waiting callers get what is known, and no new requests are taken');
  // A load balancer learns from /readyz before connections are refused.
  await pause(lameMs);
  await Promise.race([server.close(), pause(drainMs, undefined, { ref: false })]);
}

async function ended(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

async function openProducer(
  settings: ProducerSettings,
  log: Logger,
  draining: AbortSignal,
  stack: AsyncDisposableStack,
): Promise<Producer> {
  const installation = settings.HOTCELL_INSTALLATION;
  const redisUrl = settings.HOTCELL_REDIS_URL;
  await probeAtStart({ store: bucketsFrom(settings), redisUrl }, 30_000);
  const store = stack.use(new Buckets(bucketsFrom(settings)));
  const live = stack.use(await Live.open({ url: redisUrl, installation }));
  const queues = stack.use(new Queues({ url: redisUrl, installation }));
  await mkdir(settings.HOTCELL_STATE_DIR, { recursive: true });
  const model = stack.use(ReadModel.open(join(settings.HOTCELL_STATE_DIR, 'runs.sqlite')));
  const news = stack.use(await News.open({ live, store, model, log }));
  const contents = stack.use(new Contents(bucketsFrom(settings), loadSources(settings.HOTCELL_SOURCES)));
  const imagesLock = settings.HOTCELL_IMAGES_LOCK;
  const producer = {
    settings,
    installation,
    log,
    store,
    live,
    queues,
    contents,
    spool: join(settings.HOTCELL_STATE_DIR, 'spool'),
    bounds: new Bounds(queues, settings.HOTCELL_QUEUE_MAX),
    tickets: new TicketSigner(settings.HOTCELL_TICKET_KEY),
    policies: new PolicyShelf({ folder: settings.HOTCELL_POLICIES, imagesLock }),
    pins: stack.use(new PolicyPins(store, { imagesLock })),
    keys: new KeyRing(store),
    model,
    news,
    metrics: new Metrics(),
    draining,
  };
  return { ...producer, reconciler: stack.use(new Reconciler(producer)) };
}
