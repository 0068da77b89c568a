import { readNetworks } from '@hotcell/contract/address-guard.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import { commonSettings, readSettings } from '@hotcell/outside/process/settings.ts';
import { UidRange } from '@hotcell/contract/uid-range.ts';
import { z } from 'zod';

type Env = Readonly<Record<string, string | undefined>>;

const text = z.string().min(1, 'must not be empty');

const number = z.string().regex(/^[0-9]+(\.[0-9]+)?$/, 'must be a number');

/** The first of three ports: API, store, queue. */
const portBase = z
  .string()
  .regex(/^[0-9]+$/, 'must be a port number')
  .transform(Number)
  .refine((port) => port >= 1024 && port <= 65_533, 'must be between 1024 and 65533');

/** Judged here, so that `up` refuses what the producer would not start with. */
const networks = text.max(4096).superRefine((value, context) => {
  try {
    readNetworks(value);
  } catch (error) {
    context.addIssue({ code: 'custom', message: messageOf(error) });
  }
});

/**
 * What an operator may set for an installation, in the environment or in its config.env. Everything has a default or is
 * generated. Setting the store's endpoint or the queue's address moves the installation to an external one.
 */
export const installationSettings = z.object({
  HOTCELL_INSTALLATION: commonSettings.HOTCELL_INSTALLATION.optional(),
  HOTCELL_PORT_BASE: portBase.optional(),
  HOTCELL_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
  HOTCELL_S3_ENDPOINT: commonSettings.HOTCELL_S3_ENDPOINT.optional(),
  HOTCELL_S3_REGION: text.optional(),
  HOTCELL_S3_ACCESS_KEY: text.optional(),
  HOTCELL_S3_SECRET_KEY: text.optional(),
  HOTCELL_RECORD_BUCKET: commonSettings.HOTCELL_RECORD_BUCKET.unwrap().optional(),
  HOTCELL_WORK_BUCKET: commonSettings.HOTCELL_WORK_BUCKET.unwrap().optional(),
  HOTCELL_REDIS_URL: commonSettings.HOTCELL_REDIS_URL.optional(),
  HOTCELL_LOG_LEVEL: commonSettings.HOTCELL_LOG_LEVEL.unwrap().optional(),
  // The worker on this machine: which queues it serves, and what its cells may use together.
  HOTCELL_QUEUES: text.optional(),
  HOTCELL_CPUS: number.optional(),
  HOTCELL_MEMORY_BYTES: number.optional(),
  HOTCELL_RUNS: number.optional(),
  HOTCELL_CACHE_BYTES: number.optional(),
  HOTCELL_WAITING_CELLS: number.optional(),
  HOTCELL_PINNED_CELLS: text.optional(),
  HOTCELL_UIDS: UidRange.optional(),
  HOTCELL_WEBHOOK_NETWORKS: networks.optional(),
  HOTCELL_CELLS: z.enum(['engine', 'keeper']).optional(),
});

/** Settings that only the environment can give: where the installation is, and the CLI's API key. */
export const clientSettings = z.object({
  HOTCELL_HOME: text.optional(),
  HOTCELL_API_KEY: text.optional(),
  /** The folder that `policy test` and `policy try` look into. */
  HOTCELL_POLICIES: text.optional(),
});

export type InstallationSettings = z.output<typeof installationSettings>;
export type CliSettings = InstallationSettings & z.output<typeof clientSettings>;

export function readConfig(values: Env): InstallationSettings {
  return readSettings(installationSettings, values);
}

export function readCliSettings(env: Env): CliSettings {
  return readSettings(z.object({ ...installationSettings.shape, ...clientSettings.shape }), env);
}
