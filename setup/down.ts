import { rm } from 'node:fs/promises';
import { command, must } from './command.ts';
import type { Progress } from './progress.ts';
import { removeFlaggedView } from './services/flagged-view.ts';
import { letGoOfImages, removeUnheldImages } from './services/images.ts';
import { stopParts } from './services/parts.ts';
import { findInstallation, type Installation, placesIn } from './settings/installation.ts';
import { withLock } from './settings/lock.ts';

/** Stops the services; what they keep stays in the home. With purge nothing of the installation stays anywhere. */
export async function down(env: NodeJS.ProcessEnv, progress: Progress, options: { purge: boolean }): Promise<boolean> {
  const installation = await findInstallation(env);
  if (!installation) return false;
  await withLock(placesIn(installation.home).lock, progress, async () => {
    await stopParts(installation, progress);
    await removeCells(installation, progress);
    if (!options.purge) return;
    await progress.step('removing images no other installation holds', async (say) => {
      await letGoOfImages(installation);
      await removeUnheldImages(say);
    });
    await progress.step(`removing ${installation.home}`, async () => await removeHome(installation));
  });
  return true;
}

/** A worker that was killed leaves its waiting cells; they hold nothing, but they are ours to clear away. */
async function removeCells({ id }: Installation, progress: Progress): Promise<void> {
  const filters = ['--filter', `label=hotcell.installation=${id}`, '--filter', 'label=hotcell.managed=1'];
  const listed = await must(['docker', 'ps', '--all', '--quiet', ...filters]);
  const ids = listed.split('\n').filter((line) => line !== '');
  if (ids.length === 0) return;
  await progress.step(`removing ${ids.length} containers that were left`, async () => {
    await must(['docker', 'rm', '--force', '--volumes', ...ids]);
  });
}

async function removeHome(installation: Installation): Promise<void> {
  await removeFlaggedView(installation);
  await rm(installation.home, { recursive: true, force: true });
}
