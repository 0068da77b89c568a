import type { keeperSettings } from '@hotcell/keeper/keeper-config.ts';
import type { notarySettings } from '@hotcell/notary/notary-config.ts';
import type { workerSettings } from '@hotcell/executor-worker/worker-config.ts';
import type { producerSettings } from '@hotcell/producer/producer-config.ts';
import type { installationSettings, clientSettings } from '@hotcell/setup/settings/environment.ts';

type Names<S extends { shape: object }> = keyof S['shape'] & string;
type Rows<Name extends string> = Readonly<Record<Name, readonly [fallback: string, meaning: string]>>;

const store = {
  HOTCELL_S3_ENDPOINT: [
    'its own store',
    'Address of the object store. Set it to use a store outside the installation.',
  ],
  HOTCELL_S3_REGION: ['`us-east-1`', 'Region of the object store.'],
  HOTCELL_S3_ACCESS_KEY: ['generated', 'Access key of the store account.'],
  HOTCELL_S3_SECRET_KEY: ['generated', 'Secret key of the store account.'],
  HOTCELL_RECORD_BUCKET: ['`hotcell-record`', 'The bucket for what is kept: versioned, created with Object Lock.'],
  HOTCELL_WORK_BUCKET: ['`hotcell-work`', 'The bucket for what is short-lived: markers, claims, live logs.'],
  HOTCELL_REDIS_URL: ['its own queue', 'Address of Valkey or Redis. Set it to use one outside the installation.'],
} as const;

const common = {
  ...store,
  HOTCELL_INSTALLATION: [
    'required',
    'The installation that this process belongs to: the prefix of its queues and labels.',
  ],
  HOTCELL_LOG_LEVEL: ['`info`', '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.'],
  HOTCELL_CRASH_AT: [
    'nothing',
    'For tests: the named step at which this process kills (`POINT`) or freezes (`POINT:stop`) itself.',
  ],
} as const;

const uids = [
  '`10000-49999`',
  'The uids of cells, FIRST-LAST. The kernel bounds processes per uid, so nothing else on a host may use them: give installations with engines of their own on one host ranges that do not overlap.',
] as const;

const cacheBytes = ['20 GiB', 'Size of the cache of inputs on this host, in bytes.'] as const;

const webhookNetworks = [
  'none',
  'Networks of your own that webhooks may reach, with `http://` too, separated by commas: `10.0.0.0/8,fd00::/8`. They are open to the webhooks of every tenant, on all ports.',
] as const;

/** One sentence for each setting. The names come from the schemas, so a name without a sentence does not compile. */
export const installation: Rows<Names<typeof installationSettings>> = {
  ...store,
  HOTCELL_INSTALLATION: [
    'generated',
    'Short id of this installation: part of the name of everything that it makes in the engine.',
  ],
  HOTCELL_PORT_BASE: [
    '`7411`',
    'Port of the API; the store has the next port and the queue the one after. Loopback only.',
  ],
  HOTCELL_URL: ['from the port base', 'Address of the API.'],
  HOTCELL_LOG_LEVEL: common.HOTCELL_LOG_LEVEL,
  HOTCELL_QUEUES: [
    'those that the engine has a runtime for',
    'Queues that the worker of this machine serves, separated by commas: `runc,gvisor`.',
  ],
  HOTCELL_CPUS: ['all', 'CPUs for all cells together.'],
  HOTCELL_MEMORY_BYTES: ['what the services and the engine leave, at least half', 'Memory for all cells together.'],
  HOTCELL_RUNS: ['`64`', 'Maximum number of runs at once.'],
  HOTCELL_CACHE_BYTES: cacheBytes,
  HOTCELL_WAITING_CELLS: [
    '`4` where the keeper makes the cells, otherwise `0`',
    'How many cells may wait for runs to come, sealed and proven. `0`: every run’s cell is made for it.',
  ],
  HOTCELL_PINNED_CELLS: [
    'none',
    'Policies for which cells wait even while no runs come, counted within `HOTCELL_WAITING_CELLS`: `sealed=2,analytics=1`. From the first run of a policy on.',
  ],
  HOTCELL_UIDS: uids,
  HOTCELL_WEBHOOK_NETWORKS: webhookNetworks,
  HOTCELL_CELLS: [
    '`keeper` where it can work',
    'What makes cells on this machine: `keeper` (Linux, root, cgroups) or `engine`. `up` chooses, and says why.',
  ],
};

export const client: Rows<Names<typeof clientSettings>> = {
  HOTCELL_HOME: ['`.hotcell` in the checkout', 'The folder where the installation keeps its state.'],
  HOTCELL_API_KEY: [
    'the file `credentials`',
    'The API key of the command line. It goes with an address from the environment or `--url`, never with one from a file.',
  ],
  HOTCELL_POLICIES: ['`policies/` in the checkout', 'The folder of policies that `policy test` and `policy try` read.'],
};

export const producer: Rows<Names<typeof producerSettings>> = {
  ...common,
  HOTCELL_LISTEN_HOST: ['`127.0.0.1`', 'The address on which the API listens.'],
  HOTCELL_LISTEN_PORT: ['`7411`', 'The port of the API.'],
  HOTCELL_STATE_DIR: [
    'required',
    'A folder for the read model and, in `signing/`, the key that signs evidence. The read model can be deleted at any time; a lost key is replaced by a new one, which has to be listed.',
  ],
  HOTCELL_POLICIES: ['required', 'The folder of the policies.'],
  HOTCELL_IMAGES_LOCK: ['required', 'The file `images.lock`: the images of this installation by digest.'],
  HOTCELL_QUEUE_MAX: ['`200000`', 'With so many runs waiting in a queue, a new one is answered with 429.'],
  HOTCELL_BODY_BYTES: [
    '192 MiB',
    'Bytes of request bodies that it holds at once. A tenant gets half, or less if others send too.',
  ],
  HOTCELL_STREAMS: [
    '`2000`',
    'Streams and waits for results at once. A tenant gets half, or less if others have some too. `/metrics` counts the requests that wait for such a share as `hotcell_requests_waiting`, by limit.',
  ],
  HOTCELL_PATIENCE_SECONDS: [
    '`30`',
    'How long a client may send or read too slowly before it is cut off, and how long a request waits for room.',
  ],
  HOTCELL_QUOTAS: ['none', 'A file that says how much each tenant may have. It need not exist.'],
  HOTCELL_SOURCES: ['none', 'A file that names the outside buckets and prefixes from which snapshots may be frozen.'],
  HOTCELL_WEBHOOK_NETWORKS: webhookNetworks,
  HOTCELL_TICKET_KEY: ['required', 'The private key that signs tickets (Ed25519, PKCS#8, PEM).'],
};

export const worker: Rows<Names<typeof workerSettings>> = {
  ...common,
  HOTCELL_WORKER_NAME: ['the host’s name', 'The name of this worker in lists. No two workers may share one.'],
  HOTCELL_CELLS: ['`engine`', 'What makes cells: `engine` or `keeper`.'],
  HOTCELL_DOCKER_HOST: ['`unix:///var/run/docker.sock`', 'The engine, which makes cells if HOTCELL_CELLS is `engine`.'],
  HOTCELL_KEEPER_SOCKET: ['`/run/hotcell/keeper.sock`', 'The keeper, which makes cells if HOTCELL_CELLS is `keeper`.'],
  HOTCELL_STATE_DIR: ['required', 'A folder for this worker alone, at the same path on its host and in its container.'],
  HOTCELL_TICKET_PUBLIC_KEY: [
    'required',
    'The public keys that may have signed a ticket (Ed25519, SPKI, PEM), one after the other.',
  ],
  HOTCELL_QUEUES: ['`runc`', 'Queues that it serves, separated by commas.'],
  HOTCELL_CPUS: ['the host’s', 'CPUs for all cells together.'],
  HOTCELL_MEMORY_BYTES: ['three quarters of the host’s', 'Memory for all cells together.'],
  HOTCELL_RUNS: ['`64`', 'Maximum number of runs at once.'],
  HOTCELL_WAITING_CELLS: [
    '`0`',
    'How many cells may wait for runs to come, sealed and proven. `0`: every run’s cell is made for it.',
  ],
  HOTCELL_PINNED_CELLS: [
    'none',
    'Policies for which cells wait even while no runs come, counted within `HOTCELL_WAITING_CELLS`: `sealed=2,analytics=1`. From the first run of a policy on.',
  ],
  HOTCELL_UIDS: uids,
  HOTCELL_CACHE_BYTES: cacheBytes,
  HOTCELL_CELL_DISK_BYTES_PER_SECOND: [
    '200 MiB',
    'What each cell may read from each disk of the host in a second, and write, in operations of 16 KiB or more. `0`: no bound. A keeper has a setting of its own.',
  ],
  HOTCELL_SOURCES: ['none', 'The same file as the producer’s. Needed for snapshots in reference mode.'],
  HOTCELL_DRAIN_SECONDS: [
    '`20`',
    'How long a worker that is asked to stop lets its runs go on before it hands them back.',
  ],
};

export const keeper: Rows<Names<typeof keeperSettings>> = {
  HOTCELL_INSTALLATION: ['required', 'The installation whose cells it makes.'],
  HOTCELL_KEEPER_FOLDER: ['`/keeper`', 'Its own folder: unpacked images, `init/cell-init`, and the cells that live.'],
  HOTCELL_KEEPER_SOCKET: ['`/run/hotcell/keeper.sock`', 'Where it listens. Give the folder to the worker alone.'],
  HOTCELL_KEEPER_STAGING: ['`/staging`', 'Where the worker stages inputs. Cells mount nothing else of the host.'],
  HOTCELL_KEEPER_MEMORY_BYTES: ['required', 'Memory for all cells together.'],
  HOTCELL_KEEPER_PIDS: ['`200000`', 'Processes of all cells together.'],
  HOTCELL_KEEPER_DISK_BYTES_PER_SECOND: [
    '200 MiB',
    'What each cell may read from each disk of the host in a second, and write, in operations of 16 KiB or more. `0`: no bound.',
  ],
  HOTCELL_KEEPER_CELLS: ['`1024`', 'Maximum number of cells at once.'],
  HOTCELL_KEEPER_RUNTIME: ['crun where it works', 'What runs the cells of policies that say runc: `crun` or `runc`.'],
  HOTCELL_KEEPER_USER_NAMESPACES: ['`on` where the kernel has them', 'A user namespace for each cell: `on` or `off`.'],
};

export const notary: Rows<Names<typeof notarySettings>> = { ...common };
