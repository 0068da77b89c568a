import type { TicketSigner } from '@hotcell/contract/ticket-signing.ts';
import type { Contents } from '@hotcell/record/contents.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { Queues } from '@hotcell/outside/queue/queues.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import type { KeyRing } from './auth/keyring.ts';
import type { ProducerSettings } from './producer-config.ts';
import type { Metrics } from './metrics.ts';
import type { News } from './news.ts';
import type { Bounds } from './queue-bounds.ts';
import type { PolicyPins } from './policies/pin.ts';
import type { PolicyShelf } from './policies/shelf.ts';
import type { ReadModel } from './readmodel/read-model.ts';
import type { Reconciler } from './reconcile.ts';

/** What the producer is made of: opened once, in producer-main.ts. */
export interface Producer {
  settings: ProducerSettings;
  installation: string;
  log: Logger;
  store: Buckets;
  live: Live;
  queues: Queues;
  contents: Contents;
  /** A folder of this process's own, for big objects between reading and putting them. */
  spool: string;
  bounds: Bounds;
  tickets: TicketSigner;
  policies: PolicyShelf;
  pins: PolicyPins;
  keys: KeyRing;
  model: ReadModel;
  news: News;
  metrics: Metrics;
  reconciler: Reconciler;
  /** Aborted when this process is asked to end: every waiting caller then gets what is known so far. */
  draining: AbortSignal;
}
