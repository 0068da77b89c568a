import { HotcellError } from '@hotcell/contract/errors.ts';
import { counted } from '@hotcell/contract/format.ts';
import type { OutputFile } from '@hotcell/contract/result.ts';
import type { Hotcell, Run } from '@hotcell/client/index.ts';
import { z } from 'zod';
import type { ShownOutput } from '../report/reported-run.ts';
import { helperLabel } from '../run-ref.ts';
import { compareInRun } from './compare-in-run.ts';
import { tablesAmong } from './describe-tables.ts';

const row = z.array(z.string());
const FirstRows = z.array(
  z.union([
    z.strictObject({ path: z.string(), columns: row, rows: z.array(row), more: z.boolean() }),
    z.strictObject({ path: z.string(), problem: z.string() }),
  ]),
);

/** Tables in which only a program can read: a report shows what a cell found in them, and never parses them itself. */
export const isClosedTable = (path: string): boolean => /\.(?:parquet|[ct]sv\.gz)$/i.test(path);

/** The first rows of the closed tables among a run's outputs, by path. */
export async function firstRows(
  client: Hotcell,
  run: Run,
  files: readonly OutputFile[],
  note: (text: string) => void,
): Promise<Map<string, ShownOutput>> {
  const closed = files.filter(({ path }) => isClosedTable(path));
  const { tables } = tablesAmong(closed.map(({ path, size }) => ({ side: 'after' as const, path, size })));
  const shown = new Map<string, ShownOutput>(
    closed.map(({ path }) => [path, { kind: 'none', why: 'the report shows so many tables already' }]),
  );
  if (tables.length === 0) return shown;
  const labels = { name: 'read tables', [helperLabel]: 'report' };
  const params = { tables: tables.map(({ path }) => path) };
  const asked = { file: 'first_rows.py', inputs: { outputs: run.asInput }, params, labels };
  try {
    const found = await compareInRun(client, asked, FirstRows, (id) =>
      note(`Run ${id} reads ${counted(tables.length, 'table')}`),
    );
    for (const one of found)
      shown.set(
        one.path,
        'problem' in one
          ? { kind: 'none', why: `not read: ${one.problem}` }
          : { kind: 'table', rows: [one.columns, ...one.rows], more: one.more },
      );
  } catch (error) {
    // Such as that of a reader's key, which may not submit the run that reads.
    if (!(error instanceof HotcellError)) throw error;
    for (const { path } of tables) shown.set(path, { kind: 'none', why: error.message.replace(/\.$/, '') });
  }
  return shown;
}
