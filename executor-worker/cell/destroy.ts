import { setImmediate as soon, setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '@hotcell/contract/errors.ts';
import type { CellDeps } from './deps.ts';
import { removeFolder } from './host-files.ts';
import type { CellContainer } from './cell-container.ts';

/** How long init may take to end by itself: forcing a crowded gVisor sandbox out is slower than that. */
const endMs = 5_000;
/** Between the tries to remove it. After the last one the reaper goes on. */
const pausesMs = [100, 500, 2_000, 5_000, 10_000];

/** Removes all of the cell: its processes, its container and with it its uid, its folder on the host. */
export async function destroyCell(made: CellContainer, deps: CellDeps): Promise<void> {
  const { engine, stateDir, ownCells, log } = deps;
  try {
    // Its stdin has ended, so init kills everything and exits. If it does not, the removal forces it.
    await engine.wait(made.container, endMs).catch((error: unknown) => {
      log.debug({ container: made.name, err: error }, 'the engine did not report the end of a cell');
    });
    const both = await Promise.allSettled([removeContainer(made, deps, pausesMs), folderGone(stateDir, made.id)]);
    for (const one of both) if (one.status === 'rejected') throw one.reason;
  } catch (error) {
    log.error({ container: made.name, err: error }, `failed to remove a cell: ${messageOf(error)}`);
    throw error;
  } finally {
    // From here on the reaper may remove what is left of it.
    ownCells.delete(made.id);
  }
}

/** While the engine removes the container, whose request is sent by then. A cell that has ended needs no folder. */
async function folderGone(stateDir: string, id: string): Promise<void> {
  await soon();
  removeFolder(stateDir, id);
}

/** Removes a container and makes sure that it is gone. Until it is, it is reported as stuck, with the reason. */
export async function removeContainer(
  target: { id: string; name: string; container: string },
  { engine, stuck }: Pick<CellDeps, 'engine' | 'stuck'>,
  pauses: readonly number[],
): Promise<void> {
  for (let tried = 0; ; tried++) {
    try {
      const gone = await engine.remove(target.container);
      // Another request may be removing it: only its absence counts.
      if (!gone && (await engine.inspect(target.container)) !== undefined) throw new Error('it is still there');
      return stuck.gone(target.id);
    } catch (error) {
      stuck.failed({ id: target.id, container: target.name }, error);
      const ms = pauses[tried];
      if (ms === undefined) throw error;
      await pause(ms);
    }
  }
}
