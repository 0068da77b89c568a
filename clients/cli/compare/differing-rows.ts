import { counted } from '@hotcell/contract/format.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Hotcell } from '@hotcell/client/index.ts';
import { z } from 'zod';
import { columns } from '../columns.ts';
import { helperLabel } from '../run-ref.ts';
import { visibleLine } from '../visible.ts';
import { compareInRun } from './compare-in-run.ts';
import { tablesAmong } from './describe-tables.ts';

const row = z.array(z.string().nullable()).nullable();
const DifferingTable = z.strictObject({
  path: z.string(),
  rows: z.tuple([z.number().int(), z.number().int()]),
  columns: z.array(z.string()),
  /** The columns of the other one, if they are not the same: then no rows are compared. */
  others: z.array(z.string()).optional(),
  first: z.array(z.strictObject({ row: z.number().int(), before: row, after: row })),
});
export const DifferingRows = z.array(
  z.union([DifferingTable, z.strictObject({ path: z.string(), problem: z.string() })]),
);
export type DifferingRows = z.infer<typeof DifferingRows>;

/** The first rows in which tables differ, found by a run whose label names the one that was reproduced. */
export async function differingRows(
  client: Hotcell,
  { origin, reproduction }: { origin: RunId; reproduction: RunId },
  changed: readonly { path: string; before: { size: number }; after: { size: number } }[],
  note: (text: string) => void,
): Promise<DifferingRows> {
  const both = changed.map(({ path, before, after }) => ({
    side: 'after' as const,
    path,
    size: before.size + after.size,
  }));
  const { tables, left } = tablesAmong(both);
  if (left > 0) note(`${counted(left, 'table')} more than one comparison reads are left out.`);
  if (tables.length === 0) return [];
  const inputs = { before: `${origin}:outputs`, after: `${reproduction}:outputs` };
  const params = { tables: tables.map(({ path }) => path) };
  const labels = { [helperLabel]: 'reproduce', 'reproduction-of': origin };
  const asked = { file: 'differing_rows.py', inputs, params, labels };
  return await compareInRun(client, asked, DifferingRows, (run) =>
    note(`Run ${run} compares ${counted(tables.length, 'table')}`),
  );
}

export function rowsText(found: DifferingRows): string {
  return found.map((one) => ('problem' in one ? problemText(one) : tableText(one))).join('\n');
}

const problemText = ({ path, problem }: { path: string; problem: string }) =>
  `${visibleLine(path)}: not read: ${visibleLine(problem)}\n`;

function tableText({ path, rows: [before, after], columns: names, others, first }: z.infer<typeof DifferingTable>) {
  const head = `${visibleLine(path)}: ${before === after ? counted(before, 'row') : `${before} → ${after} rows`}\n`;
  if (others) return `${head}columns: ${shown(names)} → ${shown(others)}\n`;
  if (first.length === 0) return `${head}every row is the same: the files differ in how they are written\n`;
  const cells = (values: (string | null)[] | null) =>
    values ? values.map((value) => (value === null ? '-' : visibleLine(value))) : ['(no such row)'];
  const lines = first.flatMap((one) => [
    [String(one.row), 'before', ...cells(one.before)],
    ['', 'after', ...cells(one.after)],
  ]);
  return head + columns(['ROW', '', ...names.map((name) => visibleLine(name))], lines);
}

const shown = (names: readonly string[]) => names.map((name) => visibleLine(name)).join(', ');
