import { existsSync } from 'node:fs';
import { must } from '../command.ts';
import { lockedImages } from '../images/images-lock-file.ts';
import type { SetupProgress } from '../progress.ts';
import { type Installation, placesIn } from '../settings/installation.ts';
import { keeperRights } from './keeper-rights.ts';

/** The keeper's cells live on when it ends: here its own program ends them, and removes everything of them. */
export async function clearKeptCells({ id, home }: Installation, progress: SetupProgress): Promise<void> {
  const image = (await lockedImages(home))['keeper']?.digest;
  const { keeperFolder } = placesIn(home);
  if (image === undefined || !existsSync(`${keeperFolder}/cells`)) return;
  await progress.step('ending the cells of the keeper', async () => {
    const settings = ['--env', `HOTCELL_INSTALLATION=${id}`, '--env', 'HOTCELL_KEEPER_MEMORY_BYTES=1073741824'];
    const volumes = ['--volume', `${keeperFolder}:/keeper`, '--volume', '/sys/fs/cgroup:/sys/fs/cgroup'];
    await must(['docker', 'run', '--rm', ...keeperRights(id), ...settings, ...volumes, image, 'keeper/clear-main.ts']);
  });
}
