import type { Progress } from '../progress.ts';
import { type Account, type Installation } from '../settings/installation.ts';
import { describeHolder, holderOf, isFree } from '../settings/ports.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { accountKeys } from '../store/accounts.ts';
import { ensureAdminKey } from '../store/admin-key.ts';
import { ensureBuckets } from '../store/buckets.ts';
import { composeDown, composeUp, runningServices, type ServiceImages, type ServiceName } from './compose.ts';
import { writeServiceFiles } from './files.ts';
import { haveImages } from './images.ts';

/** Store and queue of an installation, as far as they are its own: started, and buckets, rights and first key in place. */
export async function startParts(
  installation: Installation,
  services: readonly ('valkey' | 'store')[],
  progress: Progress,
): Promise<void> {
  const running = await runningServices(installation);
  await refuseTakenPorts(installation, services, running);
  const images = await haveImages(installation, services, progress);
  const ids: ServiceImages = Object.fromEntries(services.map((name) => [name, images[name].id]));
  await startServices(installation, ids, services, progress);
  if (services.includes('store')) await furnishStore(installation);
}

export async function startServices(
  installation: Installation,
  images: ServiceImages,
  services: readonly ServiceName[],
  progress: Progress,
): Promise<void> {
  if (services.length === 0) return;
  await writeServiceFiles(installation);
  await progress.step(`starting ${services.join(', ')}`, (say) => composeUp(installation, images, services, say));
}

export async function furnishStore(installation: Installation): Promise<void> {
  await ensureBuckets(installation);
  await ensureAdminKey(installation);
}

/** Everything of the installation in the engine, gone: containers and network. What is in its home stays. */
export async function stopParts(installation: Installation, progress: Progress): Promise<void> {
  await progress.step('stopping the services', (say) => composeDown(installation, say));
}

const portsOf = ({ ports }: Installation): Partial<Record<ServiceName, number>> => ({
  producer: ports.api,
  store: ports.s3,
  valkey: ports.redis,
});

/** Said before anything is started, with the name of who is in the way: the engine only says that somebody is. */
export async function refuseTakenPorts(
  installation: Installation,
  services: readonly ServiceName[],
  running: ReadonlySet<string>,
): Promise<void> {
  for (const service of services) {
    const port = portsOf(installation)[service];
    if (port === undefined || running.has(service) || (await isFree(port))) continue;
    const fix = 'stop it, or choose other ports with HOTCELL_PORT_BASE';
    throw new HotcellError('conflict', `${describeHolder(await holderOf(port))}, which ${service} needs: ${fix}`);
  }
}

/** The settings of a process of ours that runs on the host instead of in a container: tests start theirs so. */
export async function hostSettings(installation: Installation, account: Account): Promise<Record<string, string>> {
  const { accessKey, secretKey } = await accountKeys(installation, account);
  return {
    HOTCELL_INSTALLATION: installation.id,
    HOTCELL_S3_ENDPOINT: installation.store.endpoint,
    HOTCELL_S3_REGION: installation.store.region,
    HOTCELL_S3_ACCESS_KEY: accessKey,
    HOTCELL_S3_SECRET_KEY: secretKey,
    HOTCELL_RECORD_BUCKET: installation.store.record,
    HOTCELL_WORK_BUCKET: installation.store.work,
    HOTCELL_REDIS_URL: installation.redisUrl,
    HOTCELL_LOG_LEVEL: installation.logLevel,
  };
}
