import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '@hotcell/contract/errors.ts';
import type { FoundCell, MadeCell } from './cell-maker.ts';
import type { CellDeps } from './deps.ts';

/** How long init may take to end by itself: forcing a crowded gVisor sandbox out is slower than that. */
const endMs = 5_000;
/** Between the tries to remove it. After the last one the reaper goes on. */
const pausesMs = [100, 500, 2_000, 5_000, 10_000];

/** Called if something of a cell is left: what its run holds of the host is not free before it is gone. */
export type Left = (gone: Promise<void>) => void;

/**
 * Removes all of the cell: its processes, what was made for it and with it its uid. A folder of this host that the cell
 * alone sees goes when the cell is gone.
 */
export async function destroyCell(made: MadeCell, deps: CellDeps, left: Left, folder?: AsyncDisposable): Promise<void> {
  const { ownCells, cores, stuck, log } = deps;
  const removeFolder = async () => {
    try {
      await folder?.[Symbol.asyncDispose]();
    } catch (error) {
      log.error({ container: made.name, err: error }, 'failed to remove the folder of a cell; the next start will');
    }
  };
  try {
    // Its stdin has ended, so init kills everything and exits. If it does not, the removal forces it.
    await made.ended(endMs).catch((error: unknown) => {
      log.debug({ container: made.name, err: error }, 'the end of a cell was not reported');
    });
    await removeCell(made, deps, pausesMs);
    await removeFolder();
  } catch (error) {
    log.error({ container: made.name, err: error }, `failed to remove a cell: ${messageOf(error)}`);
    left(stuck.whenGone(made.id).then(removeFolder));
    throw error;
  } finally {
    // From here on the reaper may remove what is left of it.
    ownCells.delete(made.id);
    cores.giveBack(made.id);
  }
}

/** Removes a cell and makes sure that it is gone. Until it is, it is reported as stuck, with the reason. */
export async function removeCell(
  cell: Pick<MadeCell | FoundCell, 'id' | 'name' | 'remove'>,
  { stuck }: Pick<CellDeps, 'stuck'>,
  pauses: readonly number[],
): Promise<void> {
  for (let tried = 0; ; tried++) {
    try {
      if (!(await cell.remove())) throw new Error('it is still there');
      return stuck.gone(cell.id);
    } catch (error) {
      stuck.failed({ id: cell.id, container: cell.name }, error);
      const ms = pauses[tried];
      if (ms === undefined) throw error;
      await pause(ms);
    }
  }
}
