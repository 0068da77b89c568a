import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { uidsOf } from '@hotcell/contract/uid-range.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { type CellSettings, type Cells, openCells } from '@hotcell/executor-worker/cell/open.ts';
import type { CellEvent, SealedCell } from '@hotcell/executor-worker/cell/sealed-cell.ts';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import type { Job } from '@hotcell/executor-worker/execute/job.ts';
import { readSeccomp } from '@hotcell/policies/installation-here.ts';
import { type Bed, engineSocket } from './bed.ts';
import { testLimits } from './limits.ts';

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
  plan: (runtime: CellPlan['runtime'], more?: Partial<CellPlan>) => CellPlan;
}

export async function openTestCells(
  bed: Bed,
  name: string,
  installation: string = bed.id(),
  more: Partial<CellSettings> = {},
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
