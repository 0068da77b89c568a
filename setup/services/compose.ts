import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { z } from 'zod';
import { type Argv, command, must } from '../command.ts';
import { engineThatAnswers, type EngineInfo } from '../engine/info.ts';
import { textIfThere } from '../settings/config-file.ts';
import { checkout, type Installation, placesIn } from '../settings/installation.ts';
import { serviceUser, workerUser } from './files.ts';
import { memoryForCells } from './service-memory.ts';
import { workerNameHere } from './worker-name.ts';

const serviceNames = ['valkey', 'store', 'producer', 'keeper', 'executor-worker', 'notary'] as const;
export type ServiceName = (typeof serviceNames)[number];

/** The services that should run: an external store or queue is not ours to start. */
export function expectedServices({ own, cells }: Pick<Installation, 'own' | 'cells'>): ServiceName[] {
  const runs: Partial<Record<ServiceName, boolean>> = {
    valkey: own.valkey,
    store: own.store,
    keeper: cells === 'keeper',
  };
  return serviceNames.filter((name) => runs[name] ?? true);
}

/** The image of each service, by id: a service runs what was built, wherever a tag points later. */
export type ServiceImages = Readonly<Partial<Record<'valkey' | 'store' | 'service' | 'keeper', string>>>;

const projectOf = (installation: Pick<Installation, 'id'>) => `hotcell-${installation.id}`;

// Compose wants a value for every variable, even of services that are not started now.
const noImage = 'hotcell/not-built:yet';

/** The share of the engine's machine (which need not be ours) that cells may use; services and kernel get the rest. */
function workerShare(
  { cpus, memoryBytes, runtimes }: EngineInfo,
  services: readonly ServiceName[],
): Record<string, string> {
  const memory = memoryForCells(memoryBytes, services);
  return {
    // A keeper brings a gVisor of its own.
    HOTCELL_QUEUES: services.includes('keeper') || runtimes.includes('runsc') ? 'runc,gvisor' : 'runc',
    HOTCELL_CPUS: String(cpus),
    HOTCELL_MEMORY_BYTES: String(memory),
    HOTCELL_RUNS: '64',
    HOTCELL_PINNED_CELLS: '',
    HOTCELL_UIDS: '10000-49999',
  };
}

async function variables(installation: Installation, images: ServiceImages): Promise<Record<string, string>> {
  const { uid, gid } = serviceUser();
  const { store, ports, passed } = installation;
  const engine = await engineThatAnswers();
  const places = placesIn(installation.home);
  const lock = (await textIfThere(places.imagesLock)) ?? '';
  const sources = (await textIfThere(places.sources)) ?? '';
  return {
    HOTCELL_INSTALLATION: installation.id,
    HOTCELL_HOME: installation.home,
    HOTCELL_CHECKOUT: checkout,
    HOTCELL_SERVICE_USER: `${uid}:${gid}`,
    HOTCELL_WORKER_USER: `${workerUser().uid}:${workerUser().gid}`,
    HOTCELL_SERVICE_CPUS: String(Math.min(2, engine.cpus)),
    HOTCELL_IMAGE_VALKEY: images.valkey ?? noImage,
    HOTCELL_IMAGE_STORE: images.store ?? noImage,
    HOTCELL_IMAGE_SERVICE: images.service ?? noImage,
    HOTCELL_IMAGE_KEEPER: images.keeper ?? noImage,
    HOTCELL_CELLS: installation.cells,
    HOTCELL_FILES_DIGEST: sha256(lock + sources),
    HOTCELL_PORT_API: String(ports.api),
    HOTCELL_PORT_S3: String(ports.s3),
    HOTCELL_PORT_REDIS: String(ports.redis),
    HOTCELL_INSIDE_S3_ENDPOINT: installation.own.store ? 'http://store:7070' : store.endpoint,
    HOTCELL_S3_REGION: store.region,
    HOTCELL_RECORD_BUCKET: store.record,
    HOTCELL_WORK_BUCKET: store.work,
    HOTCELL_LOG_LEVEL: installation.logLevel,
    HOTCELL_WORKER_NAME: workerNameHere(),
    ...workerShare(engine, expectedServices(installation)),
    // Through the engine, each would cost a container's start for little.
    HOTCELL_WAITING_CELLS: installation.cells === 'keeper' ? '4' : '0',
    HOTCELL_CACHE_BYTES: String(20 * 1024 ** 3),
    HOTCELL_WEBHOOK_NETWORKS: '',
    ...passed,
    COMPOSE_PROFILES: '',
    COMPOSE_ANSI: 'never',
  };
}

const composeArgv = (installation: Installation, ...words: string[]): Argv => [
  'docker',
  'compose',
  '--project-name',
  projectOf(installation),
  '--project-directory',
  checkout,
  '--file',
  join(checkout, 'docker-compose.yml'),
  ...(installation.cells === 'engine' ? ['--file', join(checkout, 'docker-compose.engine-cells.yml')] : []),
  // Ignore a .env file in the checkout: it is not ours.
  '--env-file',
  '/dev/null',
  ...words,
];

export async function composeUp(
  installation: Installation,
  images: ServiceImages,
  services: readonly ServiceName[],
  say: (line: string) => void,
): Promise<void> {
  const flags = ['--detach', '--no-deps', '--no-build', '--wait', '--wait-timeout', '300'];
  const argv = composeArgv(installation, 'up', ...flags, ...services);
  const { code, stderr } = await command(argv, {
    say,
    env: await variables(installation, images),
  });
  if (code !== 0) throw await explain(stderr, services);
}

/** Name the container that failed and its last output: compose only says that something failed. */
async function explain(stderr: string, services: readonly string[]): Promise<HotcellError> {
  const port = /(?:Bind for|listen tcp4?) ([0-9.]+:[0-9]+)/.exec(stderr)?.[1];
  if (port !== undefined && /already (allocated|in use)/.test(stderr)) {
    const fix = 'Stop the program that listens there (`./hotcell doctor` names it), or set another HOTCELL_PORT_BASE.';
    return new HotcellError('conflict', `Port ${port} is taken. ${fix}`);
  }
  const container = /container (\S+) (?:is unhealthy|exited)/.exec(stderr)?.[1];
  if (container === undefined) {
    const said = stderr.trim().split('\n').slice(-4).join('\n');
    return new HotcellError('engine_unavailable', `Could not start ${services.join(', ')}:\n${said}`);
  }
  const logs = await command(['docker', 'logs', '--tail', '12', container]);
  const lines = `${logs.stdout}${logs.stderr}`.split('\n').filter((line) => line.trim() !== '');
  const said = lines.map((line) => `  ${line.slice(0, 300)}`).join('\n');
  const more = `See \`docker logs ${container}\`, fix the cause, and run the same command again.`;
  return new HotcellError(
    'engine_unavailable',
    `${container} did not become healthy. Its last output:\n${said}\n${more}`,
  );
}

export async function stopService(
  installation: Installation,
  service: ServiceName,
  say: (line: string) => void,
): Promise<void> {
  await must(composeArgv(installation, 'stop', service), { say, env: await variables(installation, {}) });
}

export async function composeDown(installation: Installation, say: (line: string) => void): Promise<void> {
  const env = await variables(installation, {});
  // While the store and the queue are there: a worker hands back its runs, and a producer answers those who wait.
  await must(composeArgv(installation, 'stop', 'producer', 'executor-worker', 'notary'), { say, env });
  await must(composeArgv(installation, 'down', '--volumes', '--remove-orphans'), { say, env });
}

/** The lines that services logged so far; with `follow`, also those to come, until this process is interrupted. */
export async function* serviceLogs(
  installation: Installation,
  services: readonly ServiceName[],
  { follow, tail }: { follow: boolean; tail: number | undefined },
): AsyncGenerator<string> {
  const flags = ['--no-color', ...(follow ? ['--follow'] : []), ...(tail === undefined ? [] : ['--tail', `${tail}`])];
  // One service alone needs no name before each line, and its lines stay JSON.
  const alone = services.length === 1 ? ['--no-log-prefix'] : [];
  const [program, ...words] = composeArgv(installation, 'logs', ...flags, ...alone, ...services);
  const env = { ...process.env, ...(await variables(installation, {})) };
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'], env });
  // Compose clears the line before each of its own, on a terminal or not.
  for await (const line of createInterface({ input: child.stdout })) yield line.replaceAll('\u001b[2K', '');
}

const Row = z.object({
  Service: z.string(),
  Name: z.string(),
  State: z.string(),
  Health: z.string(),
  Image: z.string(),
  Status: z.string(),
});
export type ServiceRow = z.infer<typeof Row>;

/** The state of our services in the engine, including stopped ones. */
export async function composeRows(installation: Installation): Promise<ServiceRow[]> {
  const argv = composeArgv(installation, 'ps', '--all', '--format', 'json');
  const text = await must(argv, { env: await variables(installation, {}) });
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => Row.parse(JSON.parse(line)));
}

export async function runningServices(installation: Installation): Promise<ReadonlySet<string>> {
  const rows = await composeRows(installation);
  return new Set(rows.filter(({ State }) => State === 'running').map(({ Service }) => Service));
}
