import { randomUUID } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import { languages } from '@hotcell/contract/languages.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import type { Limits } from '@hotcell/contract/limits.ts';
import { bytesOf, LogRow } from '@hotcell/contract/log-rows.ts';
import type { Block } from '@hotcell/contract/spec.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { execute, type Execution } from '@hotcell/executor-worker/execute/execute.ts';
import { budgetOf } from '@hotcell/executor-worker/logs/window.ts';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import type { CellSettings } from '@hotcell/executor-worker/cell/open.ts';
import type { SealedCell } from '@hotcell/executor-worker/cell/sealed-cell.ts';
import type { Bed } from '../../support/bed.ts';
import { openTestCells, type TestCells } from '../../support/cells.ts';
import { testLimits } from '../../support/limits.ts';
import { openOutputRoom } from '../../support/output-room.ts';

export const mib = 1024 * 1024;
export const runtimes = ['runc', 'gvisor'] as const;
export type Runtime = CellPlan['runtime'];

/** Small enough for a few lines of Python to reach each of them. */
export const smallLimits: Limits = {
  ...testLimits,
  timeoutSeconds: 120,
  blockTimeoutSeconds: 120,
  graceSeconds: 1,
  memoryBytes: 256 * mib,
  pids: 40,
  openFiles: 128,
  fileBytes: 8 * mib,
  logBytes: mib,
  outputBytes: 4 * mib,
  outputFiles: 50,
  scratchBytes: 16 * mib,
  scratchInodes: 500,
};

export interface Asked {
  blocks: readonly Block[];
  files?: readonly { path: string; text: string }[];
  limits?: Partial<Limits>;
  pastLimit?: 'truncate' | 'stop';
  image?: CellPlan['image'];
  /** Called before the job begins. */
  beside?: (cell: SealedCell, stop: AbortController) => void | Promise<void>;
  /** A live reader; it may return a promise to be slow. */
  onRows?: (rows: readonly LogRow[], stop: AbortController) => void | Promise<void>;
  /** Instead of the store of the other runs. */
  store?: Buckets;
}

export interface Ran extends Execution {
  tenant: string;
  /** The stored log. */
  rows: LogRow[];
}

/** Executes runs as a worker does between staging and commit, on a real engine and store. */
export interface Runs extends AsyncDisposable {
  readonly cells: TestCells;
  readonly store: Buckets;
  readonly tenant: string;
  run(runtime: Runtime, asked: Asked): Promise<Ran>;
}

export async function openRuns(
  bed: Bed,
  name: string,
  more: Partial<CellSettings> = {},
  installation = bed.id(),
): Promise<Runs> {
  const cells = await openTestCells(bed, name, installation, more);
  const store = bed.store('worker');
  // One for all runs: each has a client of its own, which the bed holds to its end.
  const operator = bed.store('operator');
  const log = openLog(name, 'warn');
  const tenant = bed.tenant();
  return {
    cells,
    store,
    tenant,
    async run(runtime, asked) {
      const limits = { ...smallLimits, ...asked.limits };
      const pastLimit = asked.pastLimit ?? 'truncate';
      const plan = cells.plan(runtime, {
        limits,
        log: { ...budgetOf(limits.logBytes), pastLimit },
        ...(asked.image ? { image: asked.image } : {}),
      });
      const job = prepareJob({ blocks: [...asked.blocks], files: [...(asked.files ?? [])] }, languages);
      const stop = new AbortController();
      const cell = await cells.cells.open(plan);
      try {
        await asked.beside?.(cell, stop);
        const { run, attempt } = plan;
        const publishLog = async (rows: readonly LogRow[]) => asked.onRows?.(rows, stop);
        const used = asked.store ?? store;
        const claim = randomUUID();
        const about = { run, tenant, attempt, claim, runtime, policy: 'test', inputs: [], limits };
        const parts = { ...about, store: used, room: openOutputRoom(), publishLog, stop: stop.signal, log };
        const execution = await execute(cell, job, parts);
        const rows = await storedLog(store, recordKeys.log(tenant, run, { attempt, claim }));
        const segments = await Array.fromAsync(store.list(store.work, `logs/${run}/`));
        await operator.deleteMany(
          store.work,
          segments.map(({ key }) => key),
        );
        return { ...execution, tenant, rows };
      } finally {
        await cell.destroy();
      }
    },
    [Symbol.asyncDispose]: () => cells[Symbol.asyncDispose](),
  };
}

async function storedLog(store: Buckets, key: string): Promise<LogRow[]> {
  const bytes = await store.getBytes(store.record, key);
  const text = bytes === undefined ? '' : zstdDecompressSync(bytes).toString().trimEnd();
  return text === '' ? [] : text.split('\n').map((line) => LogRow.parse(JSON.parse(line)));
}

/** The kept output of one block. */
export function wrote(ran: Pick<Ran, 'rows'>, block = 0): Buffer {
  return Buffer.concat(ran.rows.filter((row) => row.block === block).map(bytesOf));
}

export const python = (...codes: string[]): Block[] => codes.map((code) => ({ language: 'python', code }));
