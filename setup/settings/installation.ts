import { fileURLToPath } from 'node:url';
import { join, resolve } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseConfig, textIfThere } from './config-file.ts';
import { type CellsChoice, operatorsChoice } from '../cells/choose-cells.ts';
import { keptChoice } from '../cells/cells-choice.ts';
import { type CliSettings, type InstallationSettings, readCliSettings, readConfig } from './environment.ts';

export const checkout = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

export const accounts = ['producer', 'worker', 'notary'] as const;
export type Account = (typeof accounts)[number];

/** Settings of the services on this machine, which `up` hands on as they are. */
const passedSettingNames = [
  'HOTCELL_QUEUES',
  'HOTCELL_CPUS',
  'HOTCELL_MEMORY_BYTES',
  'HOTCELL_RUNS',
  'HOTCELL_CACHE_BYTES',
  'HOTCELL_WAITING_CELLS',
  'HOTCELL_PINNED_CELLS',
  'HOTCELL_UIDS',
  'HOTCELL_WEBHOOK_NETWORKS',
] as const;

/** One installation of Hotcell on one machine, with everything that follows from its settings. */
export interface Installation {
  id: string;
  home: string;
  ports: { api: number; s3: number; redis: number };
  url: string;
  store: { endpoint: string; region: string; accessKey: string; secretKey: string; record: string; work: string };
  redisUrl: string;
  /** Whether the store and the queue are our own or external. */
  own: { store: boolean; valkey: boolean };
  logLevel: string;
  /** What makes cells on this machine. */
  cells: 'engine' | 'keeper';
  /** Why it is this one. */
  cellsBecause: string;
  /** What the operator set for its services, instead of what follows from the machine. */
  passed: Readonly<Record<string, string>>;
}

export function homeOf(settings: Pick<CliSettings, 'HOTCELL_HOME'>): string {
  return resolve(settings.HOTCELL_HOME ?? join(checkout, '.hotcell'));
}

export const placesIn = (home: string) => ({
  config: join(home, 'config.env'),
  /** What makes the cells, as the last `up` chose it. */
  cells: join(home, 'cells.json'),
  credentials: join(home, 'credentials'),
  imagesLock: join(home, 'images.lock'),
  keys: join(home, 'keys'),
  trust: join(home, 'keys', 'trust'),
  /** Public keys of roots that another one replaced. */
  retiredRoots: join(home, 'keys', 'retired'),
  /** Signs the list of signing keys. It may be kept on another machine. */
  rootKey: join(home, 'keys', 'root.pem'),
  trustedRoot: join(home, 'keys', 'trust', 'root.pem'),
  ticketKey: join(home, 'keys', 'ticket.pem'),
  ticketPublicKey: join(home, 'keys', 'ticket.pub.pem'),
  secrets: join(home, 'secrets'),
  /** The operator's list of other buckets that inputs may be read from. */
  sources: join(home, 'secrets', 'sources.json'),
  /** How much each tenant may have. */
  quotas: join(home, 'quotas', 'quotas.yaml'),
  secret: (name: string) => join(home, 'secrets', name),
  storeData: join(home, 'data', 'store'),
  valkeyData: join(home, 'data', 'valkey'),
  producerState: join(home, 'producer'),
  workerState: join(home, 'worker'),
  /** Images unpacked for cells, cell-init, and the keeper's living cells. */
  keeperFolder: join(home, 'keeper'),
  keeperRoots: join(home, 'keeper', 'roots'),
  /** The folder of the socket, which the keeper and the worker share. */
  keeperRun: join(home, 'keeper-run'),
  logs: join(home, 'logs'),
  /** The digests of files that the CLI froze, so that it need not read them again. */
  hashes: join(home, 'client', 'hashes'),
  lock: join(home, 'lock'),
});

export const loopback = (port: number) => `http://127.0.0.1:${port}`;

/** The environment wins over the installation's config.env, and that over the defaults. */
export async function settingsOf(env: NodeJS.ProcessEnv): Promise<{ home: string; settings: InstallationSettings }> {
  const { HOTCELL_HOME, HOTCELL_API_KEY: _key, ...given } = readCliSettings(env);
  const home = homeOf({ HOTCELL_HOME });
  const { config } = placesIn(home);
  const kept = await textIfThere(config);
  if (kept === undefined) return { home, settings: given };
  const settings = readKept(parseConfig(kept, config), config);
  if (given.HOTCELL_INSTALLATION !== undefined && given.HOTCELL_INSTALLATION !== settings.HOTCELL_INSTALLATION) {
    const message = `HOTCELL_INSTALLATION is ${given.HOTCELL_INSTALLATION}, but ${home} belongs to the installation ${settings.HOTCELL_INSTALLATION}. Unset HOTCELL_INSTALLATION, or set another HOTCELL_HOME.`;
    throw new HotcellError('invalid', message);
  }
  // Addresses that follow from the port base change with it.
  const moved = given.HOTCELL_PORT_BASE !== undefined && given.HOTCELL_PORT_BASE !== settings.HOTCELL_PORT_BASE;
  return { home, settings: { ...(moved ? withoutOwnAddresses(settings) : settings), ...given } };
}

function readKept(values: Record<string, string>, path: string): InstallationSettings {
  try {
    return readConfig(values);
  } catch (error) {
    if (error instanceof HotcellError)
      throw new HotcellError('invalid', `${path}: ${error.message}`, { issues: error.issues });
    throw error;
  }
}

export const defaultPortBase = 7411;

function ownAddresses(settings: InstallationSettings) {
  const base = settings.HOTCELL_PORT_BASE ?? defaultPortBase;
  return { url: loopback(base), endpoint: loopback(base + 1), redisPort: base + 2 };
}

function isOwnRedis(url: string | undefined, port: number): boolean {
  return url === undefined || new URL(url).host === `127.0.0.1:${port}`;
}

function withoutOwnAddresses(settings: InstallationSettings): InstallationSettings {
  const own = ownAddresses(settings);
  const { HOTCELL_URL, HOTCELL_S3_ENDPOINT, HOTCELL_REDIS_URL, ...rest } = settings;
  return {
    ...rest,
    ...(HOTCELL_URL && HOTCELL_URL !== own.url && { HOTCELL_URL }),
    ...(HOTCELL_S3_ENDPOINT && HOTCELL_S3_ENDPOINT !== own.endpoint && { HOTCELL_S3_ENDPOINT }),
    ...(HOTCELL_REDIS_URL && !isOwnRedis(HOTCELL_REDIS_URL, own.redisPort) && { HOTCELL_REDIS_URL }),
  };
}

/** Values that are generated once and then kept. */
export interface Generated {
  id: string;
  accessKey: string;
  secretKey: string;
  redisPassword: string;
  /** What the last `up` chose for cells. */
  cells: CellsChoice;
}

export function installationOf(home: string, settings: InstallationSettings, generated: Generated): Installation {
  const base = settings.HOTCELL_PORT_BASE ?? defaultPortBase;
  const addresses = ownAddresses(settings);
  const own = {
    store: (settings.HOTCELL_S3_ENDPOINT ?? addresses.endpoint) === addresses.endpoint,
    valkey: isOwnRedis(settings.HOTCELL_REDIS_URL, addresses.redisPort),
  };
  const { way, why } = settings.HOTCELL_CELLS ? operatorsChoice(settings.HOTCELL_CELLS) : generated.cells;
  const ownRedisUrl = `redis://default:${generated.redisPassword}@127.0.0.1:${addresses.redisPort}`;
  return {
    id: generated.id,
    home,
    ports: { api: base, s3: base + 1, redis: base + 2 },
    url: settings.HOTCELL_URL ?? addresses.url,
    store: {
      endpoint: settings.HOTCELL_S3_ENDPOINT ?? addresses.endpoint,
      region: settings.HOTCELL_S3_REGION ?? 'us-east-1',
      accessKey: generated.accessKey,
      secretKey: generated.secretKey,
      record: settings.HOTCELL_RECORD_BUCKET ?? 'hotcell-record',
      work: settings.HOTCELL_WORK_BUCKET ?? 'hotcell-work',
    },
    redisUrl: own.valkey ? ownRedisUrl : (settings.HOTCELL_REDIS_URL ?? ownRedisUrl),
    own,
    logLevel: settings.HOTCELL_LOG_LEVEL ?? 'info',
    cells: way,
    cellsBecause: why,
    passed: Object.fromEntries(passedSettingNames.flatMap((name) => (settings[name] ? [[name, settings[name]]] : []))),
  };
}

/** The existing installation, or undefined: looking creates none. */
export async function findInstallation(env: NodeJS.ProcessEnv): Promise<Installation | undefined> {
  const { home, settings } = await settingsOf(env);
  const { HOTCELL_INSTALLATION: id, HOTCELL_S3_ACCESS_KEY: accessKey, HOTCELL_S3_SECRET_KEY: secretKey } = settings;
  if (!id || !accessKey || !secretKey) return undefined;
  const places = placesIn(home);
  const redisPassword = (await textIfThere(places.secret('redis-password'))) ?? '';
  const cells = await keptChoice(places.cells);
  return installationOf(home, settings, { id, accessKey, secretKey, redisPassword, cells });
}
