import type { Engine } from '@hotcell/outside/engine/engine.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { SealedCell } from './sealed-cell.ts';
import type { Images } from './cell-image.ts';
import type { InitFile } from './host-files.ts';
import type { StuckCells } from './stuck-cells.ts';
import type { PatrolTimes } from './patrol.ts';

/** What all cells of a worker share. */
export interface CellDeps {
  engine: Engine;
  images: Images;
  installation: string;
  worker: string;
  /** The same path on the host and here. It belongs to one worker alone. */
  stateDir: string;
  init: InitFile;
  /** The kernel's name for the machine of the engine. */
  machine: string;
  /** This worker's cells by their own ids, from before their folders are made until nothing of them is left. */
  ownCells: Map<string, SealedCell | undefined>;
  /** Cells that could not be removed yet. */
  stuck: StuckCells;
  patience: PatrolTimes;
  log: Logger;
}
