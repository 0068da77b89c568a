import { mkdir } from 'node:fs/promises';
import { Engine } from '@hotcell/outside/engine.ts';
import type { Logger } from '@hotcell/outside/log.ts';
import type { CellPlan, SealedCell } from '../parts.ts';
import type { CellDeps } from './deps.ts';
import { folderOfCells } from './folder.ts';
import { Images } from './image.ts';
import { InitFile } from './init.ts';
import { reap } from './reaper.ts';
import { openCell } from './seal.ts';
import { machineOf } from './seccomp.ts';

export interface CellSettings {
  dockerHost: string;
  installation: string;
  worker: string;
  /** The same path on the host and here, and this worker's alone. */
  stateDir: string;
  log: Logger;
}

/** All that a worker has to do with cells: make them, and take away what others left. */
export interface Cells extends AsyncDisposable {
  open(plan: CellPlan): Promise<SealedCell>;
  reap(isAlive: (worker: string) => boolean): Promise<void>;
}

export async function openCells(settings: CellSettings): Promise<Cells> {
  const { installation, worker, stateDir, log } = settings;
  const engine = new Engine(settings.dockerHost);
  const { architecture } = await engine.version();
  const init = new InitFile(stateDir);
  await init.digest();
  await mkdir(folderOfCells(stateDir), { recursive: true, mode: 0o755 });
  const deps: CellDeps = {
    engine,
    images: new Images(engine, installation),
    installation,
    worker,
    stateDir,
    init,
    machine: machineOf(architecture),
    live: new Map(),
    log,
  };
  return {
    open: (plan) => openCell(plan, deps),
    reap: (isAlive) => reap(deps, isAlive),
    async [Symbol.asyncDispose]() {
      await Promise.all([...deps.live.values()].map(async (cell) => cell?.destroy()));
    },
  };
}
