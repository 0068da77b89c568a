import { mkdir } from 'node:fs/promises';
import type { CellBeat } from '@hotcell/contract/heartbeats.ts';
import { Engine } from '@hotcell/outside/engine/engine.ts';
import type { CellPlan } from './cell-plan.ts';
import type { SealedCell } from './sealed-cell.ts';
import type { CellDeps } from './deps.ts';
import { folderOfCells, InitFile } from './host-files.ts';
import { Images } from './cell-image.ts';
import { StuckCells } from './stuck-cells.ts';
import { type PatrolTimes, usualPatience } from './patrol.ts';
import { type Reaping, reap } from './reaper.ts';
import { openCell } from './seal.ts';
import { machineOf } from './seccomp.ts';

export interface CellSettings extends Pick<CellDeps, 'installation' | 'worker' | 'stateDir' | 'log'> {
  dockerHost: string;
  /** With a cell that does not end. Tests set shorter times. */
  patience?: PatrolTimes;
}

/** Makes a worker's cells, and removes what dead workers left. */
export interface Cells extends AsyncDisposable {
  /** `engine_unavailable` if the engine does not answer. */
  ready(): Promise<void>;
  open(plan: CellPlan): Promise<SealedCell>;
  reap(isAlive: Reaping['isAlive']): Promise<void>;
  /** Cells that could not be removed yet, and why. */
  stuck(): CellBeat[];
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
    ownCells: new Map(),
    stuck: new StuckCells(),
    patience: settings.patience ?? usualPatience,
    log,
  };
  return {
    ready: async () => void (await engine.ping()),
    open: (plan) => openCell(plan, deps),
    reap: (isAlive) => reap(deps, isAlive),
    stuck: () => deps.stuck.beats,
    async [Symbol.asyncDispose]() {
      await Promise.all([...deps.ownCells.values()].map(async (cell) => cell?.destroy()));
    },
  };
}
