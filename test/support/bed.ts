import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Buckets } from '@hotcell/record/buckets.ts';
import { initFolder } from '@hotcell/setup/images/cell-init.ts';
import { lockedImages } from '@hotcell/setup/images/images-lock-file.ts';
import { type Account, findInstallation, type Installation } from '@hotcell/setup/settings/installation.ts';
import { accountKeys } from '@hotcell/setup/store/accounts.ts';

export const engineSocket = '/var/run/docker.sock';

/** The parts that `npm test` started, as one test file sees them. */
export interface Bed extends AsyncDisposable {
  installation: Installation;
  /** The store with an account's rights; `operator` has all of them. */
  store(account: Account | 'operator'): Buckets;
  /** The environment of one of our processes, with this account's keys. */
  settings(account: Account): Promise<Record<string, string>>;
  images: Readonly<Record<'python' | 'node' | 'minimal', { ref: string; digest: string }>>;
  /** The folder with the built cell-init, by architecture. */
  initFolder: string;
  /** A folder of this test file's own under the installation's home, removed with the bed. */
  folder(name: string): Promise<string>;
  /** A folder with a short path, for sockets. */
  shortFolder(): Promise<string>;
  /**
   * An installation id of the caller's own, so that a reaper of one test never finds the cells of another. It begins
   * with the tests' id, so that the runner finds what is left of it.
   */
  id(): string;
  /** A tenant of the caller's own. */
  tenant(): string;
}

export async function openBed(): Promise<Bed> {
  const installation = await findInstallation(process.env);
  if (!installation) throw new Error('there is no installation: start tests with `node test/main.ts FILE`');
  const known = await lockedImages(installation.home);
  const image = (name: 'python' | 'node' | 'minimal') => {
    const locked = known[name];
    if (!locked) throw new Error(`the image ${name} is not in the lock`);
    return { ref: locked.ref, digest: locked.digest };
  };
  const keys = new Map(
    await Promise.all(
      (['producer', 'worker', 'notary'] as const).map(
        async (name) => [name, await accountKeys(installation, name)] as const,
      ),
    ),
  );
  const stores: Buckets[] = [];
  const folders: string[] = [];
  return {
    installation,
    images: { python: image('python'), node: image('node'), minimal: image('minimal') },
    initFolder: initFolder(installation.home),
    store(account) {
      const store = new Buckets({ ...installation.store, ...(account === 'operator' ? {} : keys.get(account)) });
      stores.push(store);
      return store;
    },
    async settings(account) {
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
    },
    async folder(name) {
      const parent = join(installation.home, 'test');
      await mkdir(parent, { recursive: true });
      const folder = await mkdtemp(join(parent, `${name}-`));
      folders.push(folder);
      return folder;
    },
    async shortFolder() {
      const folder = await mkdtemp(join(tmpdir(), 's-'));
      folders.push(folder);
      return folder;
    },
    id: () => `${installation.id}x${randomBytes(4).toString('hex')}`,
    tenant: () => `t-${randomBytes(5).toString('hex')}`,
    async [Symbol.asyncDispose]() {
      for (const store of stores) store[Symbol.dispose]();
      await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
    },
  };
}
