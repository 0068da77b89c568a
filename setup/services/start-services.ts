import type { SetupProgress } from '../progress.ts';
import type { Installation } from '../settings/installation.ts';
import { describeHolder, holderOf, isFree } from '../settings/ports.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { ensureAdminKey } from '../store/admin-key.ts';
import { ensureBuckets } from '../store/ensure-buckets.ts';
import { composeDown, composeUp, type ServiceImages, type ServiceName } from './compose.ts';
import { writeServiceFiles } from './files.ts';

export async function startServices(
  installation: Installation,
  images: ServiceImages,
  services: readonly ServiceName[],
  progress: SetupProgress,
): Promise<void> {
  if (services.length === 0) return;
  await writeServiceFiles(installation);
  await progress.step(`starting ${services.join(', ')}`, (say) => composeUp(installation, images, services, say));
}

export async function furnishStore(installation: Installation): Promise<void> {
  await ensureBuckets(installation);
  await ensureAdminKey(installation);
}

/** Remove the installation's containers and network from the engine. Its home stays. */
export async function stopParts(installation: Installation, progress: SetupProgress): Promise<void> {
  await progress.step('stopping the services', (say) => composeDown(installation, say));
}

const portsOf = ({ ports }: Installation): Partial<Record<ServiceName, number>> => ({
  producer: ports.api,
  store: ports.s3,
  valkey: ports.redis,
});

/** Before anything is started, and with the holder's name: the engine would only say that a port is taken. */
export async function refuseTakenPorts(
  installation: Installation,
  services: readonly ServiceName[],
  running: ReadonlySet<string>,
): Promise<void> {
  for (const service of services) {
    const port = portsOf(installation)[service];
    if (port === undefined || running.has(service) || (await isFree(port))) continue;
    const fix = 'Stop it, or choose other ports with HOTCELL_PORT_BASE.';
    throw new HotcellError('conflict', `Could not start ${service}: ${describeHolder(await holderOf(port))}. ${fix}`);
  }
}
