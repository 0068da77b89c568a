import { join } from 'node:path';
import type { Digest } from '@hotcell/contract/digest.ts';
import type { CellBeat } from '@hotcell/contract/heartbeats.ts';
import type { WhyCold } from '@hotcell/contract/why-cold.ts';
import { Engine } from '@hotcell/outside/engine/engine.ts';
import { KeeperDoor } from '@hotcell/outside/keeper/keeper-door.ts';
import type { CellMaker } from './cell-maker.ts';
import type { CellPlan } from './cell-plan.ts';
import type { SealedCell } from './sealed-cell.ts';
import type { CellDeps } from './deps.ts';
import { Cores } from './cores.ts';
import type { Left } from './destroy.ts';
import { type EngineSite, openEngineMaker } from './engine-maker.ts';
import { InitFile } from './host-files.ts';
import { KeptInit } from './kept-init.ts';
import { openKeeperMaker } from './keeper-maker.ts';
import { StuckCells } from './stuck-cells.ts';
import { type PatrolTimes, usualPatrolTimes } from './patrol.ts';
import { type Reaping, reap } from './reaper.ts';
import { openCell } from './seal.ts';
import { openWaiting, type WaitingCell } from './waiting-cell.ts';

export interface CellSettings extends EngineSite, Pick<CellDeps, 'log'> {
  dockerHost: string;
  /** Where the keeper listens; without it the engine makes the cells. */
  keeper?: string | undefined;
  /** With a cell that does not end. Tests set shorter times. */
  patrolTimes?: PatrolTimes;
}

/** Makes a worker's cells, and removes what dead workers left. */
export interface Cells extends AsyncDisposable {
  /** `engine_unavailable` if the engine does not answer. */
  ready(): Promise<void>;
  open(plan: CellPlan, left?: Left, cold?: WhyCold): Promise<SealedCell>;
  /** One that waits for its run. The folder is its own, and goes with it. */
  openWaiting(plan: CellPlan, folder: AsyncDisposable): Promise<WaitingCell>;
  /** The digest of the init that cells are made with now. */
  init(): Promise<Digest>;
  reap(isAlive: Reaping['isAlive']): Promise<void>;
  /** Cells that could not be removed yet, and why. */
  stuck(): CellBeat[];
}

export async function openCells(settings: CellSettings): Promise<Cells> {
  const { worker, log } = settings;
  const maker = await openMaker(settings);
  await maker.init();
  const deps: CellDeps = {
    maker,
    worker,
    ownCells: new Map(),
    cores: new Cores(),
    stuck: new StuckCells(),
    patrolTimes: settings.patrolTimes ?? usualPatrolTimes,
    log,
  };
  return {
    ready: () => maker.ready(),
    open: (plan, left = () => undefined, cold) => openCell(plan, deps, left, cold),
    openWaiting: (plan, folder) => openWaiting(plan, deps, folder),
    init: () => maker.init(),
    reap: (isAlive) => reap(deps, isAlive),
    stuck: () => deps.stuck.beats,
    async [Symbol.asyncDispose]() {
      await Promise.all([...deps.ownCells.values()].map(async (cell) => cell?.destroy()));
    },
  };
}

/** The one place that knows of both ways. */
async function openMaker({ keeper, dockerHost, ...site }: CellSettings): Promise<CellMaker> {
  const { worker, stateDir } = site;
  if (keeper === undefined) return await openEngineMaker(new Engine(dockerHost), site);
  const door = new KeeperDoor(keeper);
  const init = new KeptInit(door, new InitFile(stateDir));
  return await openKeeperMaker(door, { worker, staging: join(stateDir, 'cache'), init });
}
