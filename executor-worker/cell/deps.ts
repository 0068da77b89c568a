import type { Digest } from '@hotcell/contract/digest.ts';
import type { Engine } from '@hotcell/outside/engine.ts';
import type { Logger } from '@hotcell/outside/log.ts';
import type { Images } from './image.ts';

/** What making cells needs of the worker. */
export interface CellDeps {
  engine: Engine;
  images: Images;
  installation: string;
  worker: string;
  /** The same path on the host and here. Owned by one worker alone. */
  stateDir: string;
  /** cell-init on the host, and its digest. */
  init: { path: string; digest: Digest };
  /** The kernel's name of the engine's machine. */
  machine: string;
  /** The cells this worker has, by their own ids: the reaper leaves their folders alone. */
  live: Set<string>;
  log: Logger;
}
