import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { uidsOf } from '@hotcell/contract/uid-range.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { type CellSettings, type Cells, openCells } from '@hotcell/executor-worker/cell/open.ts';
import type { CellEvent, SealedCell } from '@hotcell/executor-worker/cell/sealed-cell.ts';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import type { Job } from '@hotcell/executor-worker/execute/job.ts';
import { Engine } from '@hotcell/outside/engine/engine.ts';
import { KeeperDoor } from '@hotcell/outside/keeper/keeper-door.ts';
import { readSeccomp } from '@hotcell/policies/installation-here.ts';
import { type Bed, engineSocket } from './bed.ts';
import { testLimits } from './limits.ts';
import { type KeeperEnv, openOwnKeeper, type OwnKeeper } from './own-keeper.ts';

const mib = 1024 * 1024;
export const testUids = uidsOf('10000-49999');
export const testDisk = 200 * 1024 ** 2;

/** Everything a cell reported, from the start of its job to its last event. */
export interface Told {
  events: CellEvent[];
  /** Each block's output, both streams together, by its index. */
  logs: string[];
  outputs: Map<string, Buffer>;
}

/** Cells made as a worker makes them, for one test file. */
export interface TestCells extends AsyncDisposable {
  cells: Cells;
  installation: string;
  stateDir: string;
  worker: string;
  /** The socket of the keeper that makes them; without it the engine does. */
  keeper?: string | undefined;
  /** Ends a cell as only what made it can. */
  killFromOutside(cell: Pick<SealedCell, 'id' | 'container'>): Promise<void>;
  /** Whether what made it still has it. */
  isThere(cell: Pick<SealedCell, 'id' | 'container'>): Promise<boolean>;
  /** Its worker's cells, as what makes them names them. */
  list(): Promise<string[]>;
  plan: (runtime: CellPlan['runtime'], more?: Partial<CellPlan>) => CellPlan;
}

/**
 * A test of cells holds for both ways to make them: a keeper of its own makes them, or with TEST_CELLS=engine the engine. A
 * test of the engine's own says its socket.
 */
const isEngines = () => process.env['TEST_CELLS'] === 'engine';

export async function openTestCells(
  bed: Bed,
  name: string,
  installation: string = bed.id(),
  more: Partial<CellSettings> = {},
): Promise<TestCells> {
  if (!isEngines() && more.dockerHost === undefined && more.keeper === undefined) {
    const env = { HOTCELL_KEEPER_DISK_BYTES_PER_SECOND: String(more.diskBytesPerSecond ?? testDisk) };
    return await openKeptCells(bed, name, { env, installation, settings: more });
  }
  return await openCellsOf(bed, name, installation, more);
}

async function openCellsOf(
  bed: Bed,
  name: string,
  installation: string,
  more: Partial<CellSettings>,
): Promise<TestCells> {
  const stateDir = more.stateDir ?? (await bed.folder(name));
  await mkdir(join(stateDir, 'init'), { recursive: true });
  await copyFile(join(bed.initFolder, 'cell-init'), join(stateDir, 'init', 'cell-init'));
  const worker = `test-${name}`;
  const cells = await openCells({
    dockerHost: engineSocket,
    installation,
    worker,
    stateDir,
    uids: testUids,
    diskBytesPerSecond: testDisk,
    log: openLog(worker, 'warn'),
    ...more,
  });
  const seccomp = Object.fromEntries(readSeccomp().map(({ name: profile, digest }) => [profile, digest]));
  return {
    cells,
    installation,
    stateDir,
    worker,
    keeper: more.keeper,
    ...(more.keeper === undefined
      ? outsideOfEngine(new Engine(engineSocket), { installation, worker })
      : outsideOfKeeper(more.keeper, worker)),
    plan: (runtime, more = {}) => ({
      run: newRunId(),
      attempt: 1,
      runtime,
      image: bed.images.python,
      limits: testLimits,
      log: { headBytes: 3 * mib, tailBytes: mib, pastLimit: 'truncate' },
      mounts: [],
      env: {},
      imageEnv: [],
      seccomp,
      ...more,
    }),
    [Symbol.asyncDispose]: () => cells[Symbol.asyncDispose](),
  };
}

type FromOutside = Pick<TestCells, 'killFromOutside' | 'isThere' | 'list'>;

const outsideOfEngine = (engine: Engine, of: { installation: string; worker: string }): FromOutside => ({
  killFromOutside: ({ container }) => engine.kill(container),
  isThere: async ({ container }) => (await engine.inspect(container)) !== undefined,
  list: async () => {
    const labels = [`hotcell.installation=${of.installation}`, `hotcell.worker=${of.worker}`];
    return (await engine.list(labels)).map(({ name }) => name);
  },
});

function outsideOfKeeper(socket: string, worker: string): FromOutside {
  const door = new KeeperDoor(socket);
  return {
    killFromOutside: async ({ id }) => void (await door.ask({ ask: 'kill', cell: id })),
    isThere: async ({ id }) => (await door.ask({ ask: 'list' })).some(({ cell }) => cell === id),
    list: async () => (await door.ask({ ask: 'list' })).filter((one) => one.worker === worker).map(({ cell }) => cell),
  };
}

/** Cells that a keeper of the test's own makes for a worker. */
export async function openKeptCells(
  bed: Bed,
  name: string,
  more: { env?: KeeperEnv; installation?: string; settings?: Partial<CellSettings> } = {},
): Promise<TestCells & { keptBy: OwnKeeper }> {
  const { env = {}, installation = bed.id(), settings = {} } = more;
  const stateDir = settings.stateDir ?? (await bed.folder(name));
  const keeper = await openOwnKeeper(bed, join(stateDir, 'cache'), installation, env);
  const made = await openCellsOf(bed, name, installation, { ...settings, stateDir, keeper: keeper.socket });
  return {
    ...made,
    keptBy: keeper,
    async [Symbol.asyncDispose]() {
      try {
        await made[Symbol.asyncDispose]();
      } finally {
        await keeper[Symbol.asyncDispose]();
      }
    },
  };
}

/** Runs a job to its end in an open cell. */
export async function follow(cell: SealedCell, job: Job): Promise<Told> {
  const told: Told = { events: [], logs: [], outputs: new Map() };
  const chunks: Buffer[][] = [];
  for await (const event of cell.run(job)) {
    told.events.push(event);
    if (event.type === 'log') (chunks[event.block] ??= []).push(Buffer.from(event.bytes));
    if (event.type === 'output') {
      const bytes: Buffer[] = [];
      for await (const chunk of event.data) bytes.push(Buffer.from(chunk));
      told.outputs.set(event.path.toString(), Buffer.concat(bytes));
    }
  }
  told.logs = Array.from(chunks, (one) => Buffer.concat(one ?? []).toString());
  return told;
}

/** Runs a job in a cell of its own. */
export async function runIn(cells: Cells, plan: CellPlan, job: Job): Promise<Told> {
  const cell = await cells.open(plan);
  try {
    return await follow(cell, job);
  } finally {
    await cell.destroy();
  }
}

/** How each block ended: its exit code, or why it has none. */
export function ends(told: Told): (number | string)[] {
  return told.events.flatMap((event) => {
    if (event.type === 'died') return [`the cell died (${event.exitCode ?? 'no'} exit code)`];
    if (event.type !== 'block_ended') return [];
    const { exitCode, signal, startError, timedOut } = event.end;
    return [timedOut ? 'timed out' : (startError ?? exitCode ?? `signal ${signal}`)];
  });
}
