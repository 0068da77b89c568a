import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '@hotcell/contract/errors.ts';
import type { Engine } from '@hotcell/outside/engine.ts';
import type { CellDeps } from './deps.ts';
import { removeFolder } from './folder.ts';
import type { Leased } from './lease.ts';

/** How long init may take to end by itself: a forced removal of a crowded gVisor sandbox is slower than that. */
const endMs = 5_000;
/** Between the tries to remove it. After the last one the reaper has it. */
const pausesMs = [100, 500, 2_000, 5_000, 10_000];

/** Take a container away, and see that it is gone. */
export async function removeContainer(engine: Engine, container: string): Promise<void> {
  for (const [i, ms] of [...pausesMs, 0].entries()) {
    try {
      await engine.remove(container);
      // Being removed already, by somebody else, looks like removed: only its absence counts.
      if ((await engine.inspect(container)) === undefined) return;
    } catch (error) {
      if (i >= pausesMs.length) throw error;
    }
    await pause(ms);
  }
  throw new Error('it is still there');
}

/** Nothing of the cell remains: its processes, its container and with it its uid, its folder on the host. */
export async function destroyCell(leased: Leased, deps: CellDeps): Promise<void> {
  const { engine, stateDir, live, log } = deps;
  try {
    // Its stdin has ended: init kills everything and goes. Whether it did is for the removal to see to.
    await engine.wait(leased.container, endMs).catch((error: unknown) => {
      log.debug({ container: leased.name, err: error }, 'the end of a cell was not seen');
    });
    await removeContainer(engine, leased.container);
  } catch (error) {
    log.error({ container: leased.name, err: error }, `a cell could not be removed: ${messageOf(error)}`);
    throw error;
  } finally {
    // What is left of a container has no use for the folder; and what is not live any more is the reaper's.
    await removeFolder(stateDir, leased.id);
    live.delete(leased.id);
  }
}
