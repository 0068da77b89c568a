import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { placesIn } from '@hotcell/setup/settings/installation.ts';
import type { Bed } from './bed.ts';
import { type OwnService, startService } from './own-service.ts';

export interface OwnStore extends OwnService {
  /** The proxy's address. */
  readonly endpoint: string;
}

/** A store of a test's own, with the accounts of the installation. */
export async function startStore(bed: Bed): Promise<OwnStore> {
  const { accessKey, secretKey, region } = bed.installation.store;
  const data = await bed.folder('store');
  for (const name of ['buckets', 'versions']) await mkdir(join(data, name));
  await cp(join(placesIn(bed.installation.home).storeData, 'iam'), join(data, 'iam'), { recursive: true });
  const service = await startService(bed, {
    image: 'store',
    port: 7070,
    options: [
      // As the owner of the folder, which is the test's own user.
      ...['--user', `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`, '--tmpfs', '/tmp:size=64m,mode=1777'],
      ...['--env', `ROOT_ACCESS_KEY_ID=${accessKey}`, '--env', `ROOT_SECRET_ACCESS_KEY=${secretKey}`],
      ...['--volume', `${data}:/data`],
    ],
    words: [
      ...['--port=:7070', `--region=${region}`, '--iam-dir=/data/iam', '--keep-alive', '--quiet', '--health=/health'],
      ...['posix', '--versioning-dir=/data/versions', '/data/buckets'],
    ],
    answers: async (port) => (await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined))?.ok === true,
  });
  return { ...service, endpoint: `http://127.0.0.1:${service.proxy.port}` };
}
