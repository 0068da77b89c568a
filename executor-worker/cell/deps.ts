import type { Engine } from '@hotcell/outside/engine/engine.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { SealedCell } from './sealed-cell.ts';
import type { Images } from './cell-image.ts';
import type { InitFile } from './init.ts';
import type { StuckCells } from './stuck-cells.ts';
import type { Patience } from './patrol.ts';

/** What making cells needs of the worker. */
export interface CellDeps {
  engine: Engine;
  images: Images;
  installation: string;
  worker: string;
  /** The same path on the host and here. Owned by one worker alone. */
  stateDir: string;
  init: InitFile;
  /** The kernel's name of the engine's machine. */
  machine: string;
  /** The cells this worker has, by their own ids, from before their folder is made until nothing of them is left. */
  ownCells: Map<string, SealedCell | undefined>;
  /** Those that could not be removed yet. */
  stuck: StuckCells;
  patience: Patience;
  log: Logger;
}
