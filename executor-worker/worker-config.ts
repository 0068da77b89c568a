import { availableParallelism, hostname, totalmem } from 'node:os';
import { WorkerName } from '@hotcell/contract/names.ts';
import { UidRange } from '@hotcell/contract/uid-range.ts';
import { commonSettings, readSettings } from '@hotcell/outside/process/settings.ts';
import { z } from 'zod';

const gib = 1024 ** 3;
/** The machine's memory, or that of the container this runs in. */
const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
const names = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .pipe(z.array(z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be names of queues, separated by commas')).min(1));

/** `policy=cells`, separated by commas. */
const pins = z
  .string()
  .regex(
    /^$|^[a-z0-9][a-z0-9-]{0,62}=[1-9][0-9]?(,[a-z0-9][a-z0-9-]{0,62}=[1-9][0-9]?)*$/,
    'must be like sealed=2,analytics=1',
  )
  .transform((text) => new Map(text.split(',').flatMap((pin) => (pin === '' ? [] : [pinOf(pin)]))));

function pinOf(pin: string): [policy: string, cells: number] {
  const [policy = '', cells = ''] = pin.split('=');
  return [policy, Number(cells)];
}

/** Everything a worker reads from its environment, in one place. */
export const workerSettings = z.object({
  ...commonSettings,
  HOTCELL_WORKER_NAME: WorkerName.default(hostname()),
  HOTCELL_DOCKER_HOST: z.string().min(1).default('unix:///var/run/docker.sock'),
  /** What makes cells: containers of the engine, or the keeper of this host. */
  HOTCELL_CELLS: z.enum(['engine', 'keeper']).default('engine'),
  HOTCELL_KEEPER_SOCKET: z.string().startsWith('/', 'must be the path of a socket').default('/run/hotcell/keeper.sock'),
  HOTCELL_STATE_DIR: z.string().startsWith('/', 'must be a folder of this worker’s own, at the same path on its host'),
  HOTCELL_TICKET_PUBLIC_KEY: z.string().min(1, 'must be the public key that verifies tickets: Ed25519, SPKI, PEM'),
  HOTCELL_QUEUES: names.default(['runc']),
  /** What runs may take together. The rest of the machine is for everything else on it. */
  HOTCELL_CPUS: z.coerce.number().positive().default(availableParallelism()),
  HOTCELL_MEMORY_BYTES: z.coerce
    .number()
    .int()
    .positive()
    .default(Math.max(gib, Math.floor(memory * 0.75))),
  HOTCELL_RUNS: z.coerce.number().int().min(1).max(1024).default(64),
  /** The disk space that staged inputs may take. */
  HOTCELL_CACHE_BYTES: z.coerce
    .number()
    .int()
    .positive()
    .default(20 * gib),
  /** The operator's list of buckets that inputs may be read from. */
  HOTCELL_SOURCES: z.string().optional(),
  /** So that one run that reads its inputs, or fills its image's pages again and again, leaves the disks to others. */
  HOTCELL_CELL_DISK_BYTES_PER_SECOND: z.coerce
    .number()
    .int()
    .min(0)
    .default(200 * 1024 ** 2),
  /** How many cells may wait, sealed, for runs to come. 0: each run's cell is made for it. */
  HOTCELL_WAITING_CELLS: z.coerce.number().int().min(0).max(64).default(0),
  /** How many of them at least for which policy. */
  HOTCELL_PINNED_CELLS: pins.prefault(''),
  HOTCELL_UIDS: UidRange.default('10000-49999'),
  HOTCELL_DRAIN_SECONDS: z.coerce.number().int().min(0).default(20),
});
export type WorkerSettings = z.output<typeof workerSettings>;

/** After a drain, cells are still to be destroyed and attempts to be recorded. Then the process exits. */
export const afterDrainMs = 10_000;

export function readWorkerSettings(env: Readonly<Record<string, string | undefined>>): WorkerSettings {
  return readSettings(workerSettings, env);
}
