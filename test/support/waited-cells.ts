import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { waitingPlan } from '@hotcell/executor-worker/cell/cell-class.ts';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import type { Cells } from '@hotcell/executor-worker/cell/open.ts';
import { LateInputs } from '@hotcell/executor-worker/inputs/late-inputs.ts';
import type { InputParts } from '@hotcell/executor-worker/inputs/stage.ts';
import type { Bed } from './bed.ts';
import { openKeptCells, type TestCells } from './cells.ts';

/** A cell that waits for a run of this plan, as a worker's pool makes one. */
export async function openLate({ cells, stateDir }: Pick<TestCells, 'cells' | 'stateDir'>, plan: CellPlan) {
  const places = { runs: join(stateDir, 'cache', 'runs') };
  await mkdir(places.runs, { recursive: true });
  const late = new LateInputs(places);
  const waiting = await cells.openWaiting(waitingPlan(plan, [late.mount]), late);
  return { waiting, plan, fill: async () => late.fill(await partsOf(plan), new AbortController().signal) };
}

/** Each cell has waited, and gets what is its run's at the hand-over. */
export async function openWaitedCells(bed: Bed, name: string): Promise<TestCells> {
  const made = await openKeptCells(bed, name);
  const open: Cells['open'] = async (plan, left = () => undefined) => {
    const { waiting, fill } = await openLate(made, plan);
    const cell = await waiting.handOver(plan, left);
    await fill();
    return cell;
  };
  return { ...made, cells: { ...made.cells, open } };
}

/** What is in the folder that the plan has at /inputs, as copies. */
async function partsOf({ mounts }: CellPlan): Promise<InputParts> {
  const folder = mounts.find(({ target }) => target === '/inputs')?.source;
  const names = folder === undefined ? [] : await readdir(folder);
  const trees = names.map((name) => ({
    name,
    tree: {
      files: 1,
      copyTo: async (path: string) => {
        await cp(join(folder ?? '', name), path, { recursive: true });
        return { [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
      },
    },
  }));
  return { params: '{}', trees };
}
