import { readdir } from 'node:fs/promises';
import type { ListedContainer } from '@hotcell/outside/engine/engine.ts';
import type { CellDeps } from './deps.ts';
import { removeContainer } from './destroy.ts';
import { folderOfCells, removeFolder } from './host-files.ts';

/** What is known of the workers of this installation. */
export interface Reaping {
  worker: string;
  ownCells: { has(id: string): boolean };
  /** Whether this worker may still come back for its cell, which may have ended. */
  isAlive: (worker: string, hasEnded: boolean) => boolean;
  now: Date;
}

/**
 * Why a cell's container has to go; undefined if it stays. The cell of another live worker stays in any state: it may be
 * handing its outputs over.
 */
export function reasonToReap(container: Pick<ListedContainer, 'labels' | 'state'>, known: Reaping): string | undefined {
  const { labels } = container;
  const worker = labels['hotcell.worker'] ?? '';
  const deadline = Date.parse(labels['hotcell.deadline'] ?? '');
  // A deadline that can't be read counts as over.
  const isOver = !(deadline > known.now.getTime());
  if (worker === known.worker) {
    if (!known.ownCells.has(labels['hotcell.cell'] ?? '')) return 'this worker no longer knows it';
    return isOver ? 'its deadline is over' : undefined;
  }
  // It belongs to no worker: it was made to inspect an image.
  if (worker === '') return isOver ? 'its deadline is over' : undefined;
  const hasEnded = container.state !== 'running';
  return known.isAlive(worker, hasEnded || isOver)
    ? undefined
    : `its worker ${worker} is gone${hasEnded ? ', and it has ended' : ''}`;
}

/** Between the tries of one round; the next round tries again. */
const pausesMs = [100, 500];

/** Removes what is left of cells: containers by their labels, and folders without a cell. */
export async function reap(deps: CellDeps, isAlive: Reaping['isAlive']): Promise<void> {
  const { engine, installation, worker, ownCells, stuck } = deps;
  const found = await engine.list(['hotcell.managed=1', `hotcell.installation=${installation}`, 'hotcell.role=cell']);
  const known: Reaping = { worker, ownCells, isAlive, now: new Date() };
  const remain = new Set(found.map(cellOf));
  // At the same time: a container that a hung runtime holds must not delay the others.
  await Promise.all(
    found.map(async (container) => {
      const reason = reasonToReap(container, known);
      if (reason !== undefined && (await removed(deps, container, reason))) remain.delete(cellOf(container));
    }),
  );
  stuck.keepOnly(remain);
  await reapFolders(deps, remain);
}

const cellOf = ({ labels }: ListedContainer) => labels['hotcell.cell'] ?? '';

async function removed(deps: CellDeps, container: ListedContainer, reason: string): Promise<boolean> {
  const {
    log,
    stuck: { removing },
  } = deps;
  const { id, name } = container;
  // An earlier round is still waiting for the engine.
  if (removing.has(id)) return false;
  removing.add(id);
  log.info({ container: name, reason }, 'removing a left-over cell');
  try {
    await removeContainer({ id: cellOf(container), name, container: id }, deps, pausesMs);
    return true;
  } catch (error) {
    log.error({ container: name, err: error }, 'failed to remove a left-over cell');
    return false;
  } finally {
    removing.delete(id);
  }
}

/** A state folder belongs to one worker: a folder of a cell that this process does not have is an earlier process's. */
export async function reapFolders(
  { stateDir, ownCells }: { stateDir: string; ownCells: Reaping['ownCells'] },
  hasContainer: ReadonlySet<string>,
): Promise<void> {
  const ids = await readdir(folderOfCells(stateDir)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const id of ids) if (!ownCells.has(id) && !hasContainer.has(id)) removeFolder(stateDir, id);
}
