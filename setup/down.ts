import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { must } from './command.ts';
import { clearKeptCells } from './keeper/clear-cells.ts';
import { lockedImages } from './images/images-lock-file.ts';
import type { SetupProgress } from './progress.ts';
import { removeFlaggedView } from './services/flagged-view.ts';
import { removeImages } from './services/images.ts';
import { stopParts } from './services/start-services.ts';
import { findInstallation, type Installation, placesIn } from './settings/installation.ts';
import { withLock } from './settings/installation-lock.ts';

/** Stops the services; their data stays in the home. With purge, nothing of the installation is left. */
export async function down(
  env: NodeJS.ProcessEnv,
  progress: SetupProgress,
  options: { purge: boolean },
): Promise<boolean> {
  const installation = await findInstallation(env);
  if (!installation) return false;
  await withLock(placesIn(installation.home).lock, progress, async () => {
    await stopParts(installation, progress);
    await removeCells(installation, progress);
    await clearKeptCells(installation, progress);
    if (!options.purge) return;
    await progress.step(`removing ${installation.home}`, async () => await removeHome(installation));
    await removeImages(installation, progress);
  });
  return true;
}

/** A worker that was killed leaves its cells behind. */
async function removeCells({ id }: Installation, progress: SetupProgress): Promise<void> {
  const filters = ['--filter', `label=hotcell.installation=${id}`, '--filter', 'label=hotcell.managed=1'];
  const listed = await must(['docker', 'ps', '--all', '--quiet', ...filters]);
  const ids = listed.split('\n').filter((line) => line !== '');
  if (ids.length === 0) return;
  await progress.step(`removing ${ids.length} leftover containers`, async () => {
    await must(['docker', 'rm', '--force', '--volumes', ...ids]);
  });
}

/** The files that identify the installation go last, so that an interrupted removal can be resumed. */
async function removeHome(installation: Installation): Promise<void> {
  await removeFlaggedView(installation);
  const { home } = installation;
  const { config, imagesLock } = placesIn(home);
  try {
    for (const name of await readdir(home)) {
      const path = join(home, name);
      if (path !== config && path !== imagesLock) await rm(path, { recursive: true, force: true });
    }
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    await removeAsRoot(home);
  }
  await rm(home, { recursive: true, force: true });
}

/** The worker and the keeper are root in their containers and own what they made, so a user who is not root removes that in a container too. */
async function removeAsRoot(home: string): Promise<void> {
  const image = (await lockedImages(home))['service']?.digest;
  if (image === undefined)
    throw new HotcellError(
      'forbidden',
      `Could not remove ${home}: some of its files belong to root. Run \`sudo rm -rf ${home}\`.`,
    );
  const program = `for (const name of fs.readdirSync('/home')) fs.rmSync('/home/' + name, { recursive: true, force: true })`;
  const sealed = [
    '--network',
    'none',
    '--user',
    '0:0',
    '--label',
    'hotcell.managed=1',
    '--label',
    'hotcell.role=service',
  ];
  for (const name of ['worker', 'keeper', 'keeper-run']) {
    await must(['docker', 'run', '--rm', ...sealed, '--volume', `${home}/${name}:/home`, image, '--eval', program]);
    await rm(join(home, name), { recursive: true, force: true });
  }
}
