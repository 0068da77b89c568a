import { chmod, copyFile, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { initFolder } from '../images/cell-init.ts';
import { lockedImages } from '../images/images-lock-file.ts';
import type { SetupProgress } from '../progress.ts';
import { type Installation, placesIn } from '../settings/installation.ts';
import { separateCgroups } from './hybrid-cgroups.ts';
import { collectRoots, ensureRoots } from './roots.ts';

/** Everything the keeper has to find: cell-init of its own, which no worker can write, and the images of the lock. */
export async function prepareKeeper(
  { home }: Installation,
  keeperImage: string,
  progress: SetupProgress,
): Promise<void> {
  const folder = join(placesIn(home).keeperFolder, 'init');
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const fresh = join(folder, '.cell-init');
  await copyFile(join(initFolder(home), 'cell-init'), fresh);
  await chmod(fresh, 0o555);
  // Living cells keep the one that they have.
  await rename(fresh, join(folder, 'cell-init'));
  await separateCgroups(progress);
  const lock = Object.entries(await lockedImages(home));
  const images = Object.fromEntries(lock.filter(([, { kind }]) => kind === 'cell'));
  await ensureRoots(home, keeperImage, images, progress);
  await collectRoots(home, keeperImage, images);
}
