import type { notarySettings } from '@hotcell/notary/notary-config.ts';
import type { workerSettings } from '@hotcell/executor-worker/worker-config.ts';
import type { producerSettings } from '@hotcell/producer/producer-config.ts';
import type { installationSettings, clientSettings } from '@hotcell/setup/settings/environment.ts';

type Names<S extends { shape: object }> = keyof S['shape'] & string;
type Rows<Name extends string> = Readonly<Record<Name, readonly [fallback: string, meaning: string]>>;

const store = {
  HOTCELL_S3_ENDPOINT: [
    'the own store',
    'Address of the object store. Set, it moves the installation to a store outside.',
  ],
  HOTCELL_S3_REGION: ['`us-east-1`', 'Region of the object store.'],
  HOTCELL_S3_ACCESS_KEY: ['generated', 'Access key of the store account.'],
  HOTCELL_S3_SECRET_KEY: ['generated', 'Secret key of the store account.'],
  HOTCELL_RECORD_BUCKET: ['`hotcell-record`', 'The versioned bucket with Object Lock: what is kept.'],
  HOTCELL_WORK_BUCKET: ['`hotcell-work`', 'The bucket of markers, claims and live logs: what is short-lived.'],
  HOTCELL_REDIS_URL: ['the own queue', 'Address of Valkey or Redis. Set, it moves the installation to one outside.'],
} as const;

const common = {
  ...store,
  HOTCELL_INSTALLATION: ['needed', 'Which installation this process belongs to: the prefix of its queues and labels.'],
  HOTCELL_LOG_LEVEL: ['`info`', '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.'],
  HOTCELL_CRASH_AT: [
    'nothing',
    'For tests: the named step at which this process kills (`POINT`) or freezes (`POINT:stop`) itself.',
  ],
} as const;

/** The sentences about settings; the names come from the schemas, and a name without a sentence does not compile. */
export const installation: Rows<Names<typeof installationSettings>> = {
  ...store,
  HOTCELL_INSTALLATION: [
    'generated',
    'Short id of this installation: part of the names of everything it makes in the engine.',
  ],
  HOTCELL_PORT_BASE: ['`7411`', 'The API here, the store at the next port, the queue at the one after; loopback only.'],
  HOTCELL_URL: ['from the port base', 'Address of the API.'],
  HOTCELL_LOG_LEVEL: common.HOTCELL_LOG_LEVEL,
  HOTCELL_QUEUES: [
    'what the engine has',
    'Which queues the worker of this machine serves, with commas between: `runc,gvisor`.',
  ],
  HOTCELL_CPUS: ['all', 'CPUs that cells may take together.'],
  HOTCELL_MEMORY_BYTES: ['most of it', 'Memory that cells may take together.'],
  HOTCELL_RUNS: ['`64`', 'Most runs at once.'],
};

export const client: Rows<Names<typeof clientSettings>> = {
  HOTCELL_HOME: ['`.hotcell` in the checkout', 'Where the installation keeps its state.'],
  HOTCELL_API_KEY: ['the file `credentials`', 'The key that the command line shows to the API.'],
  HOTCELL_POLICIES: ['`policies/` in the checkout', 'The folder of policies that `policy test` and `policy try` read.'],
};

export const producer: Rows<Names<typeof producerSettings>> = {
  ...common,
  HOTCELL_LISTEN_HOST: ['`127.0.0.1`', 'Where the API listens.'],
  HOTCELL_LISTEN_PORT: ['`7411`', 'The port of the API.'],
  HOTCELL_STATE_DIR: ['needed', 'A folder for the read model; it can be thrown away.'],
  HOTCELL_POLICIES: ['needed', 'The folder of the policies.'],
  HOTCELL_IMAGES_LOCK: ['needed', 'The file `images.lock`: the images of this installation by digest.'],
  HOTCELL_QUEUE_MAX: ['`200000`', 'Past so many waiting runs new ones are answered with 429.'],
  HOTCELL_SOURCES: ['none', 'A file with the buckets and prefixes outside that snapshots may be frozen from.'],
  HOTCELL_TICKET_KEY: ['needed', 'The private key that signs tickets (Ed25519, PKCS#8, PEM).'],
};

export const worker: Rows<Names<typeof workerSettings>> = {
  ...common,
  HOTCELL_WORKER_NAME: ['the host’s name', 'The name under which this worker shows; one worker, one name.'],
  HOTCELL_DOCKER_HOST: ['`unix:///var/run/docker.sock`', 'The engine.'],
  HOTCELL_STATE_DIR: ['needed', 'A folder of this worker’s own, at the same path on its host and in its container.'],
  HOTCELL_TICKET_PUBLIC_KEY: [
    'needed',
    'The public keys that tickets are believed by (Ed25519, SPKI, PEM), one after the other.',
  ],
  HOTCELL_QUEUES: ['`runc`', 'Which queues it serves, with commas between.'],
  HOTCELL_CPUS: ['the host’s', 'CPUs that cells may take together.'],
  HOTCELL_MEMORY_BYTES: ['three quarters of the host’s', 'Memory that cells may take together.'],
  HOTCELL_RUNS: ['`64`', 'Most runs at once.'],
  HOTCELL_CACHE_BYTES: ['20 GiB', 'How much of inputs is kept on this host.'],
  HOTCELL_SOURCES: ['none', 'The same file as the producer’s, for snapshots in reference mode.'],
  HOTCELL_DRAIN_SECONDS: [
    '`20`',
    'How long a worker that is asked to stop lets its runs go on before it hands them back.',
  ],
};

export const notary: Rows<Names<typeof notarySettings>> = { ...common };
