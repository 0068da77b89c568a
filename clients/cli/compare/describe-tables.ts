import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { counted, formatBytes } from '@hotcell/contract/format.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { Hotcell, Run } from '@hotcell/client/index.ts';
import { z } from 'zod';
import { helperLabel } from '../run-ref.ts';
import { checked } from '@hotcell/client/save-outputs.ts';

const Table = z.strictObject({
  rows: z.number().int().min(0),
  columns: z.array(z.strictObject({ name: z.string(), type: z.string(), total: z.string().nullable() })),
  /** How many further columns it has. */
  more: z.number().int().min(0),
});
export type Table = z.infer<typeof Table>;

const about = { side: z.enum(['before', 'after']), path: z.string() };
const Described = z.array(
  z.union([z.strictObject({ ...about, ...Table.shape }), z.strictObject({ ...about, problem: z.string() })]),
);
export type Described = z.infer<typeof Described>;

export type Side = 'before' | 'after';
export interface Asked {
  side: Side;
  path: string;
  size: number;
}

const tableEndings = /\.(?:csv|tsv|csv\.gz|tsv\.gz|parquet)$/i;
const most = { tables: 40, bytes: 4 * 1024 ** 3, answerBytes: 8 * 1024 ** 2, seconds: 300, queuedSeconds: 20 } as const;

/** Those of the files that are tables, as many as one run may read. */
export function tablesAmong(files: readonly Asked[]): { tables: Asked[]; left: number } {
  const all = files.filter(({ path }) => tableEndings.test(path));
  const tables: Asked[] = [];
  let bytes = 0;
  for (const one of all) {
    bytes += one.size;
    if (tables.length < most.tables && bytes <= most.bytes) tables.push(one);
  }
  return { tables, left: all.length - tables.length };
}

/** A run reads the tables: they are a stranger's bytes, and a cell is the place for those. */
export async function describeTables(
  client: Hotcell,
  snapshots: Record<Side, string>,
  tables: readonly Asked[],
  note: (text: string) => void,
): Promise<Described> {
  const code = await readFile(join(import.meta.dirname, 'describe_tables.py'), 'utf8');
  const used = new Set(tables.map(({ side }) => side));
  const inputs = Object.fromEntries(Object.entries(snapshots).filter(([side]) => used.has(side as Side)));
  const run = await client.submit({
    blocks: [{ language: 'python', code, file: 'describe_tables.py' }],
    policy: 'analytics',
    inputs,
    params: { tables: tables.map(({ side, path }) => [side, path]) },
    labels: { name: 'compare tables', [helperLabel]: 'diff' },
  });
  const bytes = tables.reduce((sum, { size }) => sum + size, 0);
  note(`Run ${run.id} reads ${counted(tables.length, 'table')}, ${formatBytes(bytes)}`);
  return await answerOf(run, await ended(run));
}

/** A comparison waits less patiently than the work that it compares: files and sizes are known without it. */
async function ended(run: Run): Promise<Result> {
  const begun = await resultWithin(run, most.queuedSeconds);
  if (begun) return begun;
  const { status } = await run.show();
  const result = status === 'queued' ? undefined : await resultWithin(run, most.seconds);
  if (result) return result;
  const why =
    status === 'queued' ? `did not begin within ${most.queuedSeconds} s` : `did not end within ${most.seconds} s`;
  await run.cancel(`it ${why}`);
  throw new HotcellError('too_slow', `Run ${run.id} ${why}. It is cancelled.`);
}

async function resultWithin(run: Run, seconds: number): Promise<Result | undefined> {
  const late = AbortSignal.timeout(seconds * 1000);
  try {
    return await run.result({ signal: late });
  } catch (error) {
    if (!late.aborted) throw error;
    return undefined;
  }
}

async function answerOf(run: Run, { outcome, reason, outputs }: Result): Promise<Described> {
  const file = outputs.files.find(({ path }) => path === 'tables.json');
  if (outcome !== 'succeeded' || !file)
    throw new HotcellError('internal', `Run ${run.id} ended as ${outcome}: ${reason}`);
  if (file.size > most.answerBytes)
    throw new HotcellError('too_large', `Run ${run.id} answered with ${formatBytes(file.size)}.`);
  const text = Buffer.concat(await Array.fromAsync(checked(run, file))).toString('utf8');
  return parseJsonAs(Described, text, `The answer of run ${run.id}`);
}
