import { probeAtStart } from '@hotcell/outside/process/probe-at-start.ts';
import { ensureEngine } from './engine/ensure-engine.ts';
import { chooseCellsHere } from './cells/cells-choice.ts';
import { refuseKeeperWithoutRoot } from './cells/choose-cells.ts';
import type { ShippedImage } from './images/catalogue.ts';
import type { EnsuredImage } from './images/ensure-images.ts';
import { prepareKeeper } from './keeper/prepare-keeper.ts';
import { listOwnKeys } from './keys/list-own-keys.ts';
import { preflight } from './preflight.ts';
import type { SetupProgress } from './progress.ts';
import { ensureFlaggedView } from './services/flagged-view.ts';
import { haveImages } from './services/images.ts';
import { expectedServices, runningServices, type ServiceName } from './services/compose.ts';
import { furnishStore, refuseTakenPorts, startServices } from './services/start-services.ts';
import { ensureWorkerFolders } from './services/worker-folder.ts';
import { type Installation, placesIn, settingsOf } from './settings/installation.ts';
import { withLock } from './settings/installation-lock.ts';
import { prepareInstallation } from './settings/prepare-installation.ts';

/** The images of a running installation: services, cell-init, and the shipped languages. */
const alwaysNeeded = ['valkey', 'store', 'service', 'cell-init', 'python', 'node'] as const;

export const neededImages = ({ cells }: Pick<Installation, 'cells'>): ShippedImage[] =>
  cells === 'keeper' ? [...alwaysNeeded, 'keeper'] : [...alwaysNeeded];

const isPart = (name: ServiceName) => name === 'valkey' || name === 'store';

/**
 * Bring this machine to a running installation. Each step looks first and does only what is missing, so `up` can be
 * interrupted anywhere and run again, and takes seconds when there is nothing to do.
 */
export async function up(
  env: NodeJS.ProcessEnv,
  progress: SetupProgress,
  options: { yes: boolean },
): Promise<Installation> {
  const { home, settings } = await settingsOf(env);
  const tools = await ensureEngine(progress, options);
  refuseKeeperWithoutRoot(settings.HOTCELL_CELLS, tools.root);
  await preflight(home, tools);
  return await withLock(placesIn(home).lock, progress, async () => {
    await chooseCellsHere(home, placesIn(home).cells, tools);
    const installation = await prepareInstallation(env);
    progress.note(`The ${installation.cells} makes the cells, because ${installation.cellsBecause}.`);
    const all = expectedServices(installation);
    const running = await runningServices(installation);
    // Before minutes of building: a port that is taken now will be taken then.
    await refuseTakenPorts(installation, all, running);
    const images: Partial<Record<ShippedImage, EnsuredImage>> = await haveImages(
      installation,
      neededImages(installation),
      progress,
    );
    const ids = Object.fromEntries(
      (['valkey', 'store', 'service', 'keeper'] as const).flatMap((name) =>
        images[name] ? [[name, images[name].id]] : [],
      ),
    );
    await ensureWorkerFolders(installation, progress);
    const start = (services: readonly ServiceName[]) => startServices(installation, ids, services, progress);
    // If all of them run, one pass is enough; otherwise start first what the others depend on.
    const first = all.every((name) => running.has(name)) ? all : all.filter(isPart);
    await start(first);
    await furnishStore(installation);
    await ensureFlaggedView(installation);
    if (images.keeper) await prepareKeeper(installation, images.keeper.id, progress);
    await probeAtStart({ store: installation.store, redisUrl: installation.redisUrl }, 10_000);
    await start(all.filter((name) => !first.includes(name)));
    await listOwnKeys(installation, progress);
    return installation;
  });
}
