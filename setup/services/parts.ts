import { readFile } from 'node:fs/promises';
import { commonSettings } from '@hotcell/outside/settings.ts';
import { ensureImages } from '../images/ensure.ts';
import type { Progress } from '../progress.ts';
import { type Account, type Installation, placesIn } from '../settings/installation.ts';
import { accountKeys } from '../store/accounts.ts';
import { ensureBuckets } from '../store/buckets.ts';
import { composeDown, composeUp, type ServiceImages, type ServiceName } from './compose.ts';
import { writeServiceFiles } from './files.ts';

/** Store and queue of an installation, as far as they are its own: started, and the buckets and rights in place. */
export async function startParts(
  installation: Installation,
  services: readonly ('valkey' | 'store')[],
  progress: Progress,
): Promise<void> {
  await writeServiceFiles(installation);
  const images = await imageIds(installation, services, progress);
  await progress.step(`starting ${services.join(' and ')}`, (say) => composeUp(installation, images, services, say));
  if (services.includes('store')) await ensureBuckets(installation);
}

/** What is built, by the engine's ids: services that share an image name it once. */
export async function imageIds(
  installation: Installation,
  services: readonly ServiceName[],
  progress: Progress,
): Promise<ServiceImages> {
  const names = new Set(services.map((name) => (name === 'valkey' || name === 'store' ? name : 'service')));
  const images = await ensureImages(installation, [...names], progress);
  return Object.fromEntries(Object.entries(images).map(([name, { id }]) => [name, id]));
}

/** Everything of the installation in the engine, gone: containers and network. What is in its home stays. */
export async function stopParts(installation: Installation, progress: Progress): Promise<void> {
  await progress.step('stopping the services', (say) => composeDown(installation, say));
}

/** The settings of a process of ours that runs on the host instead of in a container: tests start theirs so. */
export async function hostSettings(installation: Installation, account: Account): Promise<Record<string, string>> {
  const { accessKey, secretKey } = await accountKeys(installation, account);
  const values: Record<keyof typeof commonSettings, string> = {
    HOTCELL_INSTALLATION: installation.id,
    HOTCELL_S3_ENDPOINT: installation.store.endpoint,
    HOTCELL_S3_REGION: installation.store.region,
    HOTCELL_S3_ACCESS_KEY: accessKey,
    HOTCELL_S3_SECRET_KEY: secretKey,
    HOTCELL_RECORD_BUCKET: installation.store.record,
    HOTCELL_WORK_BUCKET: installation.store.work,
    HOTCELL_REDIS_URL: installation.redisUrl,
    HOTCELL_LOG_LEVEL: installation.logLevel,
    HOTCELL_CRASH_AT: '',
  };
  const { HOTCELL_CRASH_AT: _crash, ...settings } = values;
  return settings;
}

export async function apiKeyOf(installation: Installation): Promise<string> {
  return (await readFile(placesIn(installation.home).credentials, 'utf8')).trim();
}
