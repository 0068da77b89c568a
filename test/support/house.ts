import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { digestOf } from '@hotcell/contract/digest.ts';
import { effectiveQuota, type TenantQuota } from '@hotcell/contract/quota.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { TicketSigner } from '@hotcell/contract/ticket-signing.ts';
import { readWorkerSettings } from '@hotcell/executor-worker/worker-config.ts';
import { HalfUploads } from '@hotcell/executor-worker/half-uploads.ts';
import { serve } from '@hotcell/executor-worker/pull/serve.ts';
import type { Steps } from '@hotcell/executor-worker/worker.ts';
import { clearFinished } from '@hotcell/notary/clear-finished.ts';
import { Live } from '@hotcell/outside/live/live.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { Queues } from '@hotcell/outside/queue/queues.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { type Accepted, type AcceptDeps, accept } from '@hotcell/producer/accept.ts';
import { Bounds } from '@hotcell/producer/queue-bounds.ts';
import { Reconciler } from '@hotcell/producer/reconcile.ts';
import { ensureBuckets } from '@hotcell/setup/store/ensure-buckets.ts';
import type { Account } from '@hotcell/setup/settings/installation.ts';
import { Redis } from 'ioredis';
import type { Bed } from './bed.ts';
import { openSigner } from '@hotcell/record/signer.ts';
import { HouseKeys } from './house-keys.ts';
import { specFor } from './spec.ts';
import { echoQueue, echoSteps } from './echo.ts';

export const logLevel = process.env['TEST_LOG'] ?? 'silent';

/** Buckets, queues and keys of one test's own, so that everything left in them is this test's. */
export interface House extends AsyncDisposable {
  readonly id: string;
  readonly tenant: string;
  readonly producer: AcceptDeps;
  /** With all rights. */
  readonly store: Buckets;
  readonly signing: HouseKeys;
  /** The environment of a process in this house. */
  settings(account: Account, more?: Readonly<Record<string, string>>): Promise<Record<string, string>>;
  submit(code: string, more?: Partial<Asked>): Promise<Accepted>;
  worker(
    name: string,
    more?: { env?: Readonly<Record<string, string>>; steps?: Steps; store?: Buckets },
  ): Promise<Running>;
  reconciler(): Reconciler;
  /** Removes half uploads of dead workers, as living workers do. */
  housekeeper(): AsyncDisposable;
  /** One pass of the notary. */
  clearFinished(): Promise<number>;
  /** Removes all of this house's keys. */
  emptyValkey(): Promise<void>;
  /** Keys of this house in Valkey that never expire. */
  keysLeft(): Promise<string[]>;
}

interface Asked {
  spec: Partial<Spec>;
  key: string;
  queue: string;
}

interface Running extends AsyncDisposable {
  /** Ends it as SIGTERM would. */
  stop(): Promise<void>;
}

export interface HouseSettings {
  redisUrl?: string;
  /** A store of the test's own instead of the bed's. */
  store?: { endpoint: string };
  /** The store's address for processes, if a proxy is before it. */
  endpoint?: string;
  /** How many runs may wait. */
  mostQueued?: number;
  quotas?: TenantQuota;
}

export async function openHouse(
  bed: Bed,
  { redisUrl, store: own, endpoint = own?.endpoint, mostQueued = 100_000, quotas = {} }: HouseSettings = {},
): Promise<House> {
  const id = bed.id();
  const { installation } = bed;
  const buckets = { record: `${id}-record`, work: `${id}-work` };
  const asOperator = { ...installation.store, ...buckets, ...(own ? { endpoint: own.endpoint } : {}) };
  await ensureBuckets({ ...installation, store: asOperator });
  const url = redisUrl ?? installation.redisUrl;
  const keys = generateKeyPairSync('ed25519');
  const pems = {
    private: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    public: keys.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
  const log = openLog('test', logLevel);
  const stack = new AsyncDisposableStack();
  const operator = stack.use(new Buckets(asOperator));
  const signing = new HouseKeys(operator, id);
  const settings: House['settings'] = async (account, more = {}) => {
    // It signs nothing, and keeps nothing of its own.
    if (account === 'notary') return { ...(await environment(account)), ...more };
    const stateDir = more['HOTCELL_STATE_DIR'] ?? (await bed.folder('state'));
    const name = more['HOTCELL_WORKER_NAME'] ?? 'worker';
    await signing.signer(stateDir, account, account === 'worker' ? name : account);
    return { ...(await environment(account)), HOTCELL_STATE_DIR: stateDir, ...more };
  };
  const environment = async (account: Account) => ({
    ...(await bed.settings(account)),
    HOTCELL_INSTALLATION: id,
    HOTCELL_RECORD_BUCKET: buckets.record,
    HOTCELL_WORK_BUCKET: buckets.work,
    HOTCELL_REDIS_URL: url,
    HOTCELL_LOG_LEVEL: logLevel,
    ...(endpoint ? { HOTCELL_S3_ENDPOINT: endpoint } : {}),
    ...(account === 'worker'
      ? {
          HOTCELL_TICKET_PUBLIC_KEY: pems.public,
          HOTCELL_QUEUES: echoQueue,
          HOTCELL_WORKER_NAME: 'worker',
          HOTCELL_CPUS: '4',
          HOTCELL_MEMORY_BYTES: String(2 ** 30),
          HOTCELL_DRAIN_SECONDS: '0',
        }
      : {}),
    ...(account === 'producer' ? { HOTCELL_TICKET_KEY: pems.private } : {}),
  });
  const storeOf = async (account: Account): Promise<Buckets> => {
    const env: Readonly<Record<string, string>> = await environment(account);
    return stack.use(
      new Buckets({
        endpoint: env['HOTCELL_S3_ENDPOINT'] ?? '',
        region: env['HOTCELL_S3_REGION'] ?? '',
        accessKey: env['HOTCELL_S3_ACCESS_KEY'] ?? '',
        secretKey: env['HOTCELL_S3_SECRET_KEY'] ?? '',
        ...buckets,
      }),
    );
  };
  const queues = stack.use(new Queues({ url, installation: id }));
  const producer: AcceptDeps = {
    installation: id,
    store: await storeOf('producer'),
    live: stack.use(await Live.open({ url, installation: id })),
    queues,
    signer: await signing.signer(await bed.folder('producer'), 'producer', 'producer'),
    tickets: new TicketSigner(pems.private),
    bounds: new Bounds(queues, mostQueued),
    quotas: { of: (tenant) => effectiveQuota(tenant, { version: 1, defaults: quotas }, undefined) },
    log,
  };
  const notary = await storeOf('notary');
  const workerStore = await storeOf('worker');
  const tenant = bed.tenant();
  return {
    id,
    tenant,
    producer,
    store: operator,
    signing,
    settings,
    submit: (code, more = {}) =>
      accept(producer, {
        spec: { ...specFor(tenant, code), ...more.spec },
        queue: more.queue ?? echoQueue,
        idempotency: more.key ? { key: more.key, body: digestOf(code) } : undefined,
      }),
    async worker(name, more = {}) {
      const env = readWorkerSettings(await settings('worker', { HOTCELL_WORKER_NAME: name, ...more.env }));
      const ends = new AbortController();
      const live = await Live.open({ url: env.HOTCELL_REDIS_URL, installation: id });
      const store = more.store ?? (await storeOf('worker'));
      const signer = await openSigner(env.HOTCELL_STATE_DIR, 'worker', name);
      const parts = {
        settings: env,
        signer,
        store,
        live,
        log: log.child({ worker: name }),
        steps: more.steps ?? echoSteps,
      };
      const serving = async () => {
        await using _live = live;
        await serve(parts, ends.signal);
      };
      const served = serving();
      const stop = async () => {
        ends.abort();
        await served;
      };
      const running: Running = { stop, [Symbol.asyncDispose]: stop };
      return stack.use(running);
    },
    reconciler: () => stack.use(new Reconciler(producer)),
    housekeeper: () => stack.use(keepSweeping(workerStore, producer.live)),
    clearFinished: () => clearFinished({ store: notary, log }, new AbortController().signal),
    emptyValkey: () => forget(url, id),
    keysLeft: () => keysLeft(url, id),
    async [Symbol.asyncDispose]() {
      await stack.disposeAsync();
      await forget(url, id);
    },
  };
}

function keepSweeping(store: Buckets, live: Live): AsyncDisposable {
  const uploads = new HalfUploads(store, live);
  const ends = new AbortController();
  const sweeping = async () => {
    while (!ends.signal.aborted) {
      uploads.suspect();
      await uploads.sweep().catch(() => {
        // The store may be failing on purpose: try again.
      });
      await pause(2_000, undefined, { signal: ends.signal }).catch(() => {
        // The loop ends.
      });
    }
  };
  const swept = sweeping();
  return {
    async [Symbol.asyncDispose]() {
      ends.abort();
      await swept;
    },
  };
}

async function* keysOf(redis: Redis, id: string): AsyncGenerator<string[]> {
  for (const pattern of [`tickets:hotcell-${id}-*`, `hotcell:${id}:*`])
    yield* redis.scanStream({ match: pattern, count: 1000 }) as AsyncIterable<string[]>;
}

/** Removes tickets that a test never meant to run, and the queue's own keys. */
export async function forget(url: string, id: string): Promise<void> {
  const redis = new Redis(url);
  for await (const keys of keysOf(redis, id)) if (keys.length > 0) await redis.unlink(...keys);
  redis.disconnect();
}

/** Keys that every queue keeps: settings, counters, a trimmed stream of events. */
const bounded = /:(meta|events|id|pc|marker|stalled-check|epoch)$/;

async function keysLeft(url: string, id: string): Promise<string[]> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 });
  // The failing call reports it.
  redis.on('error', () => undefined);
  try {
    const left: string[] = [];
    for await (const keys of keysOf(redis, id))
      for (const key of keys.filter((one) => !bounded.test(one))) if ((await redis.ttl(key)) === -1) left.push(key);
    return left;
  } finally {
    redis.disconnect();
  }
}
