import { readdir } from 'node:fs/promises';
import type { Listed } from '@hotcell/outside/engine.ts';
import type { CellDeps } from './deps.ts';
import { removeContainer } from './destroy.ts';
import { folderOfCells, removeFolder } from './folder.ts';

/** Who is left of this installation: what its containers say of themselves, and what is known of their workers. */
export interface Reaping {
  worker: string;
  live: { has(id: string): boolean };
  isAlive: (worker: string) => boolean;
  now: Date;
}

/**
 * Whether a cell's container goes, and why. Pure. One of a worker that lives is that worker's business, whatever state
 * it is in: it may be handing its outputs over. What no worker holds any more goes at once.
 */
export function reasonToReap(container: Pick<Listed, 'labels' | 'state'>, known: Reaping): string | undefined {
  const { labels } = container;
  const worker = labels['hotcell.worker'] ?? '';
  const deadline = Date.parse(labels['hotcell.deadline'] ?? '');
  // A deadline that says nothing is one that is over.
  const isOver = !(deadline > known.now.getTime());
  if (worker === known.worker) {
    if (!known.live.has(labels['hotcell.cell'] ?? '')) return 'its worker does not know it any more';
    return isOver ? 'its deadline is over' : undefined;
  }
  // Nobody's: it was made to look at an image.
  if (worker === '') return isOver ? 'its deadline is over' : undefined;
  return known.isAlive(worker)
    ? undefined
    : `its worker ${worker} is gone${container.state === 'running' ? '' : ', and it has ended'}`;
}

/** Take away what is left of cells: containers by their labels, and folders that no cell has. */
export async function reap(deps: CellDeps, isAlive: (worker: string) => boolean): Promise<void> {
  const { engine, installation, worker, live, log } = deps;
  const found = await engine.list(['hotcell.managed=1', `hotcell.installation=${installation}`, 'hotcell.role=cell']);
  const remain = new Set(found.map(({ labels }) => labels['hotcell.cell'] ?? ''));
  const known: Reaping = { worker, live, isAlive, now: new Date() };
  for (const container of found) {
    const reason = reasonToReap(container, known);
    if (reason === undefined) continue;
    log.info({ container: container.name, reason }, 'a left cell is removed');
    try {
      await removeContainer(engine, container.id);
      remain.delete(container.labels['hotcell.cell'] ?? '');
    } catch (error) {
      // The next round tries again; the others must not wait for it.
      log.error({ container: container.name, err: error }, 'a left cell could not be removed');
    }
  }
  await reapFolders(deps, remain);
}

/** A state folder is one worker's: what is in it and not live was an earlier life's. */
async function reapFolders({ stateDir, live }: CellDeps, hasContainer: ReadonlySet<string>): Promise<void> {
  const ids = await readdir(folderOfCells(stateDir)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const id of ids) if (!live.has(id) && !hasContainer.has(id)) await removeFolder(stateDir, id);
}
