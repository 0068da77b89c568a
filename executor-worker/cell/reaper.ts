import type { FoundCell } from './cell-maker.ts';
import type { CellDeps } from './deps.ts';
import { removeCell } from './destroy.ts';

/** What is known of the workers of this installation. */
export interface Reaping {
  worker: string;
  ownCells: { has(id: string): boolean };
  /** Whether this worker may still come back for its cell, which may have ended. */
  isAlive: (worker: string, hasEnded: boolean) => boolean;
  now: Date;
}

/**
 * Why a cell has to go; undefined if it stays. The cell of another live worker stays in any state: it may be handing its
 * outputs over.
 */
export function reasonToReap(cell: Omit<FoundCell, 'name' | 'remove'>, known: Reaping): string | undefined {
  const { worker, hasEnded } = cell;
  // Its deadline is of the wall clock, which can jump: what this worker knows goes when its run does.
  if (worker === known.worker) return known.ownCells.has(cell.id) ? undefined : 'this worker no longer knows it';
  // It belongs to no worker: it was made to inspect an image. A deadline that can't be read counts as over.
  if (worker === '') return cell.deadlineMs > known.now.getTime() ? undefined : 'its deadline is over';
  return known.isAlive(worker, hasEnded)
    ? undefined
    : `its worker ${worker} is gone${hasEnded ? ', and it has ended' : ''}`;
}

/** Between the tries of one round; the next round tries again. */
const pausesMs = [100, 500];

/** Removes what is left of cells. */
export async function reap(deps: CellDeps, isAlive: Reaping['isAlive']): Promise<void> {
  const { maker, worker, ownCells, stuck } = deps;
  const wereStuck = stuck.ids;
  const found = await maker.list();
  const known: Reaping = { worker, ownCells, isAlive, now: new Date() };
  const remain = new Set(found.map(({ id }) => id));
  // At the same time: a cell that a hung runtime holds must not delay the others.
  await Promise.all(
    found.map(async (cell) => {
      const reason = reasonToReap(cell, known);
      if (reason !== undefined && (await removed(deps, cell, reason))) remain.delete(cell.id);
    }),
  );
  // Another process may have removed them.
  for (const id of wereStuck) if (!remain.has(id)) stuck.gone(id);
  await maker.tidy((id) => ownCells.has(id) || remain.has(id));
}

async function removed(deps: CellDeps, cell: FoundCell, reason: string): Promise<boolean> {
  const {
    log,
    stuck: { removing },
  } = deps;
  const { name } = cell;
  // An earlier round is still waiting for the removal.
  if (removing.has(name)) return false;
  removing.add(name);
  log.info({ container: name, reason }, 'removing a left-over cell');
  try {
    await removeCell(cell, deps, pausesMs);
    return true;
  } catch (error) {
    log.error({ container: name, err: error }, 'failed to remove a left-over cell');
    return false;
  } finally {
    removing.delete(name);
  }
}
