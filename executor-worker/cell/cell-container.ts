import { randomBytes } from 'node:crypto';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { CreateOptions } from '@hotcell/outside/engine/engine.ts';
import type { CellPlan } from './cell-plan.ts';
import type { CellDeps } from './deps.ts';
import { makeFolder, noInputs, removeFolder } from './host-files.ts';
import type { VettedImage } from './cell-image.ts';
import { containerName, containerOptions, initPath } from './options.ts';

/**
 * The uids of cells: none below 10000, and far from 65534, which owns ext4's reserved blocks. NPROC counts per uid across
 * the host, so a uid serves one cell at a time.
 */
const uids = { first: 10_000, count: 40_000 } as const;

/** Where the search for a free uid begins: random, so that workers of one engine seldom collide. */
let next = randomBytes(4).readUInt32LE(0) % uids.count;

function nextUid(): number {
  next = (next + 1) % uids.count;
  return uids.first + next;
}

/** A container that was created for a cell. Its name reserves its uid. */
export interface CellContainer {
  id: string;
  uid: number;
  name: string;
  container: string;
  plan: CellPlan;
  image: VettedImage;
  options: CreateOptions;
}

/** How many names may be taken before something other than many cells must be wrong. */
const tries = 1000;

export async function createContainer(
  plan: CellPlan,
  image: VettedImage,
  seccomp: string,
  deps: CellDeps,
): Promise<CellContainer> {
  const { stateDir, init, installation, worker, ownCells, engine } = deps;
  const id = randomBytes(8).toString('hex');
  const ownInputs = plan.mounts.some(({ target }) => target === '/inputs') ? [] : [noInputs(stateDir, id)];
  ownCells.set(id, undefined);
  try {
    for (let attempt = 0; attempt < tries; attempt++) {
      const uid = nextUid();
      const files = [{ source: init.path, target: initPath }, ...makeFolder(stateDir, id, uid), ...ownInputs];
      const from = { imageId: image.id, imageVariables: Object.keys(image.env), seccomp };
      const site = { id, uid, installation, worker, createdAt: new Date(), files, ...from };
      const options = containerOptions(plan, site);
      // The engine gives a name to one container only, whatever installation or worker asks for it.
      const name = containerName(uid);
      const container = await engine.create(name, options);
      if (container !== undefined) return { id, uid, name, container, plan, image, options };
    }
    throw new HotcellError(
      'cell_failed',
      `No uid is free for a cell: ${tries} containers named hotcell-cell-… were in the way. Remove those that are not in use.`,
    );
  } catch (error) {
    // Nothing was created; or the answer was lost, and the reaper finds the container by its labels.
    removeFolder(stateDir, id);
    ownCells.delete(id);
    throw error;
  }
}
