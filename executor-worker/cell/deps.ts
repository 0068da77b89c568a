import type { Logger } from '@hotcell/outside/process/log.ts';
import type { CellMaker } from './cell-maker.ts';
import type { SealedCell } from './sealed-cell.ts';
import type { Cores } from './cores.ts';
import type { StuckCells } from './stuck-cells.ts';
import type { PatrolTimes } from './patrol.ts';

/** What all cells of a worker share. */
export interface CellDeps {
  maker: CellMaker;
  worker: string;
  /** This worker's cells by their own ids, from before they are made until nothing of them is left. */
  ownCells: Map<string, Pick<SealedCell, 'destroy'> | undefined>;
  cores: Cores;
  /** Cells that could not be removed yet. */
  stuck: StuckCells;
  patrolTimes: PatrolTimes;
  log: Logger;
}
