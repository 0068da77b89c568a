import { relative, sep } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { KeeperDoor } from '@hotcell/outside/keeper/keeper-door.ts';
import type { CellMaker, CellOrder, FoundCell, MadeCell } from './cell-maker.ts';
import type { CellPlan } from './cell-plan.ts';
import { deadlineOf } from './cell-times.ts';
import type { KeptInit } from './kept-init.ts';
import { KeeperCell, removeKept } from './keeper-cell.ts';

export interface KeeperSite {
  worker: string;
  /** The folder of staged inputs, which the keeper has as well. */
  staging: string;
  init: Pick<KeptInit, 'digest'>;
}

/** Cells from the keeper: straight from the OCI runtime, without the engine. */
export async function openKeeperMaker(door: KeeperDoor, site: KeeperSite): Promise<CellMaker> {
  const { machine } = await door.ask({ ask: 'about' });
  return {
    machine,
    witness: 'what the host’s kernel says of the cell’s first process and cgroup',
    ready: async () => void (await door.ask({ ask: 'about' })),
    init: () => site.init.digest(),
    vetted: async ({ digest }) => ({ id: digest, ...(await door.ask({ ask: 'image', image: digest })) }),
    make: (order) => makeCell(door, site, order),
    list: () => listCells(door),
    // The keeper has all folders of its cells.
    tidy: async () => {},
  };
}

async function makeCell(
  door: KeeperDoor,
  site: KeeperSite,
  { id, plan, image, seccomp }: CellOrder,
): Promise<MadeCell> {
  const init = await site.init.digest();
  const { socket, uid } = await door.make({
    ask: 'make',
    cell: id,
    worker: site.worker,
    deadline: deadlineOf(plan.limits, new Date()).toISOString(),
    runtime: plan.runtime,
    image: image.id,
    seccomp: seccomp.digest,
    limits: plan.limits,
    inputs: plan.mounts.map((mount) => inputOf(site.staging, mount)),
  });
  return new KeeperCell(door, { id, uid, plan, image, init, socket });
}

/** The keeper mounts nothing but what stands below its staging folder. */
function inputOf(staging: string, { source, target }: CellPlan['mounts'][number]) {
  const from = relative(staging, source).split(sep);
  if (from[0] === '..' || from[0] === '')
    throw new HotcellError('cell_failed', `The input ${source} is not below the staging folder ${staging}.`);
  return { from, target };
}

async function listCells(door: KeeperDoor): Promise<FoundCell[]> {
  const found = await door.ask({ ask: 'list' });
  return found.map(({ cell, worker, deadline, hasEnded }) => ({
    id: cell,
    name: cell,
    worker,
    deadlineMs: Date.parse(deadline),
    hasEnded,
    remove: () => removeKept(door, cell),
  }));
}
