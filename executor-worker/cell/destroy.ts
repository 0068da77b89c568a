import { setImmediate as soon, setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '@hotcell/contract/errors.ts';
import type { CellDeps } from './deps.ts';
import { removeFolder } from './folder.ts';
import type { CellContainer } from './cell-container.ts';

/** How long init may take to end by itself: a forced removal of a crowded gVisor sandbox is slower than that. */
const endMs = 5_000;
/** Between the tries to remove it. After the last one the reaper has it. */
const pausesMs = [100, 500, 2_000, 5_000, 10_000];

/** Nothing of the cell remains: its processes, its container and with it its uid, its folder on the host. */
export async function destroyCell(made: CellContainer, deps: CellDeps): Promise<void> {
  const { engine, stateDir, ownCells, log } = deps;
  try {
    // Its stdin has ended: init kills everything and goes. Whether it did is for the removal to see to.
    await engine.wait(made.container, endMs).catch((error: unknown) => {
      log.debug({ container: made.name, err: error }, 'the end of a cell was not seen');
    });
    const both = await Promise.allSettled([removeContainer(made, deps, pausesMs), folderGone(stateDir, made.id)]);
    for (const one of both) if (one.status === 'rejected') throw one.reason;
  } catch (error) {
    log.error({ container: made.name, err: error }, `a cell could not be removed: ${messageOf(error)}`);
    throw error;
  } finally {
    // What is not live any more is the reaper's.
    ownCells.delete(made.id);
  }
}

/** While the engine is at it, whose request is out by then: what has ended, or is left of it, has no use for the folder. */
async function folderGone(stateDir: string, id: string): Promise<void> {
  await soon();
  removeFolder(stateDir, id);
}

/** Take a container away, and see that it is gone. What keeps it from going is told until it is. */
export async function removeContainer(
  target: { id: string; name: string; container: string },
  { engine, stuck }: Pick<CellDeps, 'engine' | 'stuck'>,
  pauses: readonly number[],
): Promise<void> {
  for (let tried = 0; ; tried++) {
    try {
      const gone = await engine.remove(target.container);
      // Being removed for somebody else is not removed: only its absence counts.
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
