import { counted, formatBytes } from '@hotcell/contract/format.ts';
import type { Hotcell } from '@hotcell/client/index.ts';
import { z } from 'zod';
import { helperLabel } from '../run-ref.ts';
import { compareInRun } from './compare-in-run.ts';

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
const most = { tables: 40, bytes: 4 * 1024 ** 3 } as const;

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
  const used = new Set(tables.map(({ side }) => side));
  const inputs = Object.fromEntries(Object.entries(snapshots).filter(([side]) => used.has(side as Side)));
  const params = { tables: tables.map(({ side, path }) => [side, path]) };
  const asked = { file: 'describe_tables.py', inputs, params, labels: { [helperLabel]: 'diff' } };
  const bytes = tables.reduce((sum, { size }) => sum + size, 0);
  const begun = (run: string) => note(`Run ${run} reads ${counted(tables.length, 'table')}, ${formatBytes(bytes)}`);
  return await compareInRun(client, asked, Described, begun);
}
