import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { KeeperDoor } from '@hotcell/outside/keeper/keeper-door.ts';
import { command, must } from '@hotcell/setup/command.ts';
import { lockedImages } from '@hotcell/setup/images/images-lock-file.ts';
import { keeperRights } from '@hotcell/setup/keeper/keeper-rights.ts';
import { ensureRoots } from '@hotcell/setup/keeper/roots.ts';
import { checkout, placesIn } from '@hotcell/setup/settings/installation.ts';
import { showProgressOn } from '@hotcell/setup/progress.ts';
import type { Bed } from './bed.ts';
import { until } from './until.ts';

/** A keeper of a test's own, in a container as in production. */
export interface OwnKeeper extends AsyncDisposable {
  socket: string;
  door: KeeperDoor;
  /** Its process on the host. */
  pid(): Promise<number>;
  /** Runs a program in its container, with its rights and mounts. */
  evaluate(code: string, ...words: string[]): Promise<string>;
  /** Its own folder on the host. */
  folder: string;
  /** Its place above all its cells, below the mount of a hierarchy. */
  cgroup(): string;
  /** Whether ids of this host are leased for its cell; other keepers of the host lease theirs meanwhile. */
  isLeased(cell: string): boolean;
  /** Kills it; its cells live on. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

export type KeeperEnv = Readonly<Record<`HOTCELL_KEEPER_${string}`, string>>;

export async function openOwnKeeper(
  bed: Bed,
  staging: string,
  installation: string,
  env: KeeperEnv = {},
): Promise<OwnKeeper> {
  const { home } = bed.installation;
  const image = (await lockedImages(home))['keeper']?.digest;
  if (image === undefined) throw new Error('the image keeper is not in the lock');
  await ensureRoots(home, image, bed.images, showProgressOn(process.stderr));
  const [folder, run] = [await bed.folder('keeper'), await bed.shortFolder()];
  await chmod(folder, 0o711);
  await mkdir(join(folder, 'init'));
  await copyFile(join(bed.initFolder, 'cell-init'), join(folder, 'init', 'cell-init'));
  await mkdir(staging, { recursive: true });
  const name = `hotcell-test-keeper-${randomBytes(4).toString('hex')}`;
  const settings = {
    HOTCELL_INSTALLATION: installation,
    HOTCELL_KEEPER_MEMORY_BYTES: String(8 * 1024 ** 3),
    ...env,
  };
  const place = [
    ...keeperRights(bed.installation.id),
    ...Object.entries(settings).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...[
      `${folder}:/keeper`,
      `${placesIn(home).keeperRoots}:/keeper/roots:ro`,
      `${run}:/run/hotcell`,
      `${staging}:/staging:ro`,
      '/sys/fs/cgroup:/sys/fs/cgroup',
      // This checkout's, so that a change to them is tested without a new image.
      ...['contract', 'keeper'].map((room) => `${join(checkout, room)}:/app/${room}:ro`),
    ].flatMap((volume) => ['--volume', volume]),
  ];
  const socket = join(run, 'keeper.sock');
  const door = new KeeperDoor(socket);
  const answers = () =>
    until('the keeper answers', () =>
      door.ask({ ask: 'about' }).then(
        () => true,
        () => false,
      ),
    );
  await must(['docker', 'run', '--detach', '--name', name, ...place, image, 'keeper/keeper-main.ts']);
  try {
    await answers();
  } catch (error) {
    const { stdout, stderr } = await command(['docker', 'logs', name]);
    await must(['docker', 'rm', '--force', name]);
    throw new Error(`the keeper did not start: ${stdout}${stderr}`, { cause: error });
  }
  return {
    socket,
    door,
    pid: async () => Number(await must(['docker', 'inspect', '--format', '{{.State.Pid}}', name])),
    evaluate: (code, ...words) =>
      must(['docker', 'exec', name, 'node', '--input-type=module-typescript', '--eval', code, '--', ...words]),
    folder,
    cgroup: () => join('hotcell', installation, nameIn(folder)),
    isLeased: (cell) => isLeased(`${nameIn(folder)}.${cell}`),
    kill: async () => void (await must(['docker', 'kill', name])),
    start: async () => {
      await must(['docker', 'start', name]);
      await answers();
    },
    async [Symbol.asyncDispose]() {
      await must(['docker', 'rm', '--force', name]);
      await must(['docker', 'run', '--rm', ...place, image, 'keeper/clear-main.ts']);
    },
  };
}

const nameIn = (folder: string) => readFileSync(join(folder, 'name'), 'utf8');

function isLeased(leaf: string): boolean {
  for (const place of ['/sys/fs/cgroup/pids/hotcell-ids', '/sys/fs/cgroup/hotcell-ids'])
    if (existsSync(place)) return readdirSync(place).some((number) => existsSync(join(place, number, leaf)));
  throw new Error('no ids are leased anywhere');
}
