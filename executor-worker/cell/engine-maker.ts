import { randomBytes } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { cellCpus } from '@hotcell/contract/cell-bounds.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Uids } from '@hotcell/contract/uid-range.ts';
import type { Engine } from '@hotcell/outside/engine/engine.ts';
import { Images } from './cell-image.ts';
import type { CellMaker, CellOrder, FoundCell, MadeCell } from './cell-maker.ts';
import { EngineCell, removeContainer } from './engine-cell.ts';
import { type DiskBounds, disksIn } from './disk-bounds.ts';
import { folderOfCells, InitFile, type InitProgram, makeFolder, noInputs, removeFolder } from './host-files.ts';
import { containerName, containerOptions } from './options.ts';
import { machineOf } from './seccomp.ts';

/** NPROC counts per uid across the host, so a uid serves one cell at a time. It begins at random, so that workers of one engine seldom collide. */
function* inTurn({ first, last }: Uids): Generator<number, never> {
  const count = last - first + 1;
  for (let next = randomBytes(4).readUInt32LE(0); ; next++) yield first + (next % count);
}

/** How many names may be taken before something other than many cells must be wrong. */
const tries = 1000;

export interface EngineSite {
  installation: string;
  worker: string;
  /** The same path on the host and here. It belongs to one worker alone. */
  stateDir: string;
  uids: Uids;
  /** Of each disk of the host, for each cell. 0: no bound. */
  diskBytesPerSecond: number;
}

/** Cells as containers of the engine. */
export async function openEngineMaker(
  engine: Engine,
  site: EngineSite,
  init: Pick<InitFile, 'program'> = new InitFile(site.stateDir),
): Promise<CellMaker> {
  const { architecture } = await engine.version();
  await mkdir(folderOfCells(site.stateDir), { recursive: true, mode: 0o755 });
  const images = new Images(engine, site.installation);
  const uids = inTurn(site.uids);
  const bounded = site.diskBytesPerSecond > 0 && (await engine.boundsDisks());
  const disks = { disks: bounded ? await disksIn('/sys/block') : [], bytesPerSecond: site.diskBytesPerSecond };
  return {
    machine: machineOf(architecture),
    witness: 'the engine’s inspection of the container',
    ready: async () => void (await engine.ping()),
    init: async () => (await init.program()).digest,
    vetted: (image) => images.vetted(image),
    make: async (order) => createContainer(engine, { ...site, disks }, uids, { ...order, init: await init.program() }),
    list: () => listContainers(engine, site.installation),
    tidy: (isThere) => removeFolders(site.stateDir, isThere),
  };
}

async function createContainer(
  engine: Engine,
  site: EngineSite & { disks: DiskBounds },
  uids: Generator<number, never>,
  order: CellOrder & { init: InitProgram },
): Promise<MadeCell> {
  const { installation, worker, stateDir, disks } = site;
  const { id, plan, image, init, seccomp } = order;
  const cpus = Math.min(cellCpus(plan.limits), availableParallelism());
  const ownInputs = plan.mounts.some(({ target }) => target === '/inputs') ? [] : [noInputs(stateDir, id)];
  try {
    for (let attempt = 0; attempt < tries; attempt++) {
      const uid = uids.next().value;
      const files = [...makeFolder(stateDir, { id, uid, cpus, init }), ...ownInputs];
      const from = { imageId: image.id, imageVariables: Object.keys(image.env), disks, seccomp: seccomp.line };
      const more = { id, uid, installation, worker, createdAt: new Date(), files };
      const options = containerOptions(plan, { ...more, ...from });
      // The engine gives a name to one container only, whatever installation or worker asks for it.
      const name = containerName(uid);
      const container = await engine.create(name, options);
      if (container !== undefined)
        return new EngineCell(
          { engine, stateDir },
          { id, uid, name, container, plan, image, init: init.digest, options },
        );
    }
    throw new HotcellError(
      'cell_failed',
      `No uid is free for a cell: ${tries} containers named hotcell-cell-… were in the way. Remove those that are not in use, or give this worker other uids (HOTCELL_UIDS).`,
    );
  } catch (error) {
    // Nothing was created; or the answer was lost, and the reaper finds the container by its labels.
    removeFolder(stateDir, id);
    throw error;
  }
}

async function listContainers(engine: Engine, installation: string): Promise<FoundCell[]> {
  const found = await engine.list(['hotcell.managed=1', `hotcell.installation=${installation}`, 'hotcell.role=cell']);
  return found.map(({ id, name, state, labels }) => ({
    id: labels['hotcell.cell'] ?? '',
    name,
    worker: labels['hotcell.worker'] ?? '',
    deadlineMs: Date.parse(labels['hotcell.deadline'] ?? ''),
    hasEnded: state !== 'running',
    remove: () => removeContainer(engine, id),
  }));
}

/** A state folder belongs to one worker: a folder of a cell that is not there is an earlier process's. */
export async function removeFolders(stateDir: string, isThere: (id: string) => boolean): Promise<void> {
  const ids = await readdir(folderOfCells(stateDir)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const id of ids) if (!isThere(id)) removeFolder(stateDir, id);
}
