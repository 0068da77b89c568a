import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { TicketSigner } from '@hotcell/contract/ticket-signing.ts';
import { Contents, loadSources } from '@hotcell/record/contents.ts';
import { Live } from '@hotcell/outside/live/live.ts';
import { probeAtStart } from '@hotcell/outside/process/probe-at-start.ts';
import { Queues } from '@hotcell/outside/queue/queues.ts';
import { bulkSockets, openDoors } from './bounds/doors.ts';
import { Buckets, bucketsFrom, reportUnreadable } from '@hotcell/record/buckets.ts';
import { OpenRequests } from './auth/open-requests.ts';
import { KnownTenants } from './auth/known-tenants.ts';
import { KeyRing } from './auth/keyring.ts';
import { openSigner, requestListing } from '@hotcell/record/signer.ts';
import { Bounds } from './queue-bounds.ts';
import { SharedReads } from './follow/shared-reads.ts';
import { TailReads } from './logs/tail-reads.ts';
import { Metrics } from './metrics.ts';
import { News } from './news.ts';
import { PolicyPins } from './policies/pin.ts';
import { PolicyShelf } from './policies/shelf.ts';
import { DiskMeasures } from './measure-disk.ts';
import { StoredMeasures } from './quotas/measure-stored.ts';
import { OpenStreams } from './quotas/open-streams.ts';
import { Quotas } from './quotas/quota-book.ts';
import { RequestRates } from './quotas/request-rates.ts';
import { ReadModel } from './readmodel/read-model.ts';
import { RecordFollower } from './readmodel/record-follower.ts';
import { Reconciler } from './reconcile.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import { OpenSessions } from './sessions/open-session.ts';
import { Specs } from './specs.ts';
import type { RunProgress } from './view-run.ts';
import type { ProducerSettings } from './producer-config.ts';

/** What the producer is made of: opened once, in producer-main.ts. */
export async function openProducer(
  settings: ProducerSettings,
  log: Logger,
  draining: AbortSignal,
  stack: AsyncDisposableStack,
) {
  const installation = settings.HOTCELL_INSTALLATION;
  const redisUrl = settings.HOTCELL_REDIS_URL;
  await probeAtStart({ store: bucketsFrom(settings), redisUrl }, 30_000);
  const store = stack.use(new Buckets(bucketsFrom(settings), reportUnreadable(log)));
  const bulk = stack.use(new Buckets({ ...bucketsFrom(settings), sockets: bulkSockets }, reportUnreadable(log)));
  const live = stack.use(await Live.open({ url: redisUrl, installation }));
  const queues = stack.use(new Queues({ url: redisUrl, installation }));
  await mkdir(settings.HOTCELL_STATE_DIR, { recursive: true });
  const notNoted = (error: unknown) =>
    log.warn({ err: error }, 'failed to write to the read model; the next comparison with the buckets makes up for it');
  const model = stack.use(await ReadModel.open(join(settings.HOTCELL_STATE_DIR, 'runs.sqlite'), notNoted));
  const news = stack.use(await News.open({ live, store, model }));
  const contents = stack.use(new Contents(bucketsFrom(settings), loadSources(settings.HOTCELL_SOURCES)));
  const doors = openDoors(settings);
  const patienceMs = settings.HOTCELL_PATIENCE_SECONDS * 1000;
  const imagesLock = settings.HOTCELL_IMAGES_LOCK;
  const quotas = stack.use(await Quotas.open({ store, live, log, file: settings.HOTCELL_QUOTAS }));
  const keys = new KeyRing(store);
  const signer = await openSigner(settings.HOTCELL_STATE_DIR, 'producer', 'producer');
  await requestListing(store, signer, log);
  const producer = {
    installation,
    log,
    /** For keys, acceptance and results, which wait for nothing that a client does. */
    store,
    /** The same, over connections of its own: for what is as slow as a client, or as large. */
    bulk,
    live,
    stored: live.stored,
    queues,
    contents,
    /** A folder of this process's own, for big objects between reading and putting them. */
    spool: join(settings.HOTCELL_STATE_DIR, 'spool'),
    doors,
    streams: new OpenStreams(doors.streams, quotas),
    patienceMs,
    sessions: new OpenSessions(),
    webhookNetworks: settings.HOTCELL_WEBHOOK_NETWORKS,
    specs: new Specs({ bulk, doors, patienceMs }),
    bounds: new Bounds(queues, settings.HOTCELL_QUEUE_MAX),
    quotas,
    rates: new RequestRates(),
    tickets: new TicketSigner(settings.HOTCELL_TICKET_KEY),
    imagesLock,
    policies: new PolicyShelf({ folder: settings.HOTCELL_POLICIES, imagesLock }, (change) =>
      log.info({ audit: 'policy', ...change }, 'a policy changed'),
    ),
    pins: stack.use(new PolicyPins(store, { imagesLock })),
    keys,
    /** Signs receipts, and how runs ended that no worker had. */
    signer,
    tenants: new KnownTenants(store),
    openRequests: stack.use(new OpenRequests(keys, log)),
    model,
    follower: new RecordFollower({ store, model, log }),
    news,
    tails: new TailReads({ store: bulk, live }),
    progress: new SharedReads<RunProgress | undefined>(),
    metrics: new Metrics(),
    /** Aborted when this process is asked to end: every waiting caller then gets what is known so far. */
    draining,
  };
  stack.use(new StoredMeasures(producer));
  stack.use(new DiskMeasures(producer));
  return { ...producer, reconciler: stack.use(new Reconciler(producer)) };
}

export type Producer = Awaited<ReturnType<typeof openProducer>>;
