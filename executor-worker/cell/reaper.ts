import { readdir } from 'node:fs/promises';
import type { ListedContainer } from '@hotcell/outside/engine/engine.ts';
import type { CellDeps } from './deps.ts';
import { removeContainer } from './destroy.ts';
import { folderOfCells, removeFolder } from './folder.ts';

/** Who is left of this installation: what its containers say of themselves, and what is known of their workers. */
export interface Reaping {
  worker: string;
  ownCells: { has(id: string): boolean };
  /** Whether this worker may still come for a cell of its own, that has ended or not. */
  isAlive: (worker: string, hasEnded: boolean) => boolean;
  now: Date;
}

/**
 * Whether a cell's container goes, and why. Pure. One of a worker that lives is that worker's business, whatever state
 * it is in: it may be handing its outputs over. What no worker holds any more goes at once.
 */
export function reasonToReap(container: Pick<ListedContainer, 'labels' | 'state'>, known: Reaping): string | undefined {
  const { labels } = container;
  const worker = labels['hotcell.worker'] ?? '';
  const deadline = Date.parse(labels['hotcell.deadline'] ?? '');
  // A deadline that says nothing is one that is over.
  const isOver = !(deadline > known.now.getTime());
  if (worker === known.worker) {
    if (!known.ownCells.has(labels['hotcell.cell'] ?? '')) return 'its worker does not know it any more';
    return isOver ? 'its deadline is over' : undefined;
  }
  // Nobody's: it was made to look at an image.
  if (worker === '') return isOver ? 'its deadline is over' : undefined;
  const hasEnded = container.state !== 'running';
  return known.isAlive(worker, hasEnded || isOver)
    ? undefined
    : `its worker ${worker} is gone${hasEnded ? ', and it has ended' : ''}`;
}

/** Between the tries of one round; the next round tries again. */
const pausesMs = [100, 500];

/** Take away what is left of cells: containers by their labels, and folders that no cell has. */
export async function reap(deps: CellDeps, isAlive: Reaping['isAlive']): Promise<void> {
  const { engine, installation, worker, ownCells, stuck } = deps;
  const found = await engine.list(['hotcell.managed=1', `hotcell.installation=${installation}`, 'hotcell.role=cell']);
  const known: Reaping = { worker, ownCells, isAlive, now: new Date() };
  const remain = new Set(found.map(cellOf));
  // Beside each other: one that a wedged runtime holds must not keep the others.
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
  // An earlier round still waits for the engine's answer.
  if (removing.has(id)) return false;
  removing.add(id);
  log.info({ container: name, reason }, 'a left cell is removed');
  try {
    await removeContainer({ id: cellOf(container), name, container: id }, deps, pausesMs);
    return true;
  } catch (error) {
    log.error({ container: name, err: error }, 'a left cell could not be removed');
    return false;
  } finally {
    removing.delete(id);
  }
}

/** A state folder is one worker's: what is in it and not live was an earlier life's. */
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
