import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { languages } from '@hotcell/contract/languages.ts';
import type { BundledFile } from '@hotcell/contract/spec.ts';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import type { SealedCell } from '@hotcell/executor-worker/cell/sealed-cell.ts';
import { type Job, prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { readPreloads } from '@hotcell/policies/installation-here.ts';
import type { Bed } from './bed.ts';
import { openKeptCells, type TestCells } from './cells.ts';
import { openLate } from './waited-cells.ts';

/** All that a program shows of itself to the outside. */
export interface Shown {
  stdout: string;
  stderr: string;
  ends: (number | string)[];
  /** Whether init gave it to the preload. */
  inPreload: boolean;
}

export interface PreloadCells extends TestCells {
  plan: TestCells['plan'];
  /** Runs it in a cell that waited, with the preload or without. */
  show(code: string, how: 'preloaded' | 'fresh', more?: BundledFile[]): Promise<Shown>;
}

const bundled = join(import.meta.dirname, '../preload/bundled');
const files = ['helper.py', 'package/__init__.py', 'package/inner.py'];

/** The shipped preload, for the command that a block of python without a name has. */
export function shippedPreload(name = 'pandas'): NonNullable<CellPlan['preload']> {
  const found = readPreloads().find((one) => one.name === name);
  if (!found) throw new Error(`there is no preload ${name}`);
  return { name, digest: found.digest, argv: ['python3', 'block_0.py'] };
}

export async function openPreloadCells(bed: Bed, name: string): Promise<PreloadCells> {
  const made = await openKeptCells(bed, name);
  const read = files.map(async (path) => ({ path, text: await readFile(join(bundled, path), 'utf8') }));
  const always = await Promise.all(read);
  return {
    ...made,
    async show(code, how, more = []) {
      const plan = made.plan('runc', how === 'preloaded' ? { preload: shippedPreload() } : {});
      const { waiting } = await openLate(made, plan);
      const cell = await waiting.handOver(plan, () => undefined);
      try {
        return await shown(
          cell,
          prepareJob({ blocks: [{ language: 'python', code }], files: [...always, ...more] }, languages),
        );
      } finally {
        await cell.destroy();
      }
    },
  };
}

/** Each stream by itself: which of the two is read first is chance. */
async function shown(cell: SealedCell, job: Job): Promise<Shown> {
  const streams = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const told: Pick<Shown, 'ends' | 'inPreload'> = { ends: [], inPreload: false };
  for await (const event of cell.run(job)) {
    if (event.type === 'log') streams[event.stream].push(Buffer.from(event.bytes));
    if (event.type === 'block_started') told.inPreload = event.preloaded === true;
    if (event.type === 'block_ended')
      told.ends.push(event.end.startError ?? event.end.exitCode ?? `signal ${event.end.signal}`);
  }
  const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString();
  return { ...told, stdout: text(streams.stdout), stderr: text(streams.stderr) };
}
