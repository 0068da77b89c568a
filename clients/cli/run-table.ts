import type { ListedRun } from '@hotcell/contract/api/runs.ts';
import { formatSeconds } from '@hotcell/contract/format.ts';
import { columns } from './columns.ts';
import { inCommands } from './in-commands.ts';
import { shortIds } from './run-ref.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** 42 s, 5 min, 3 h, 12 d. */
export function roughly(ms: number): string {
  if (ms < minute) return `${Math.max(0, Math.floor(ms / 1000))} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min`;
  return ms < 2 * day ? `${Math.floor(ms / hour)} h` : `${Math.floor(ms / day)} d`;
}

function took({ acceptedAt, finishedAt }: ListedRun): string {
  if (finishedAt === null) return '-';
  const ms = Date.parse(finishedAt) - Date.parse(acceptedAt);
  return ms < minute ? formatSeconds(ms) : roughly(ms);
}

const cut = (text: string, width: number) => (text.length > width ? `${text.slice(0, width - 1)}…` : text);

/** What matters most comes first: on a terminal, ids are short and lines end at its width. In a pipe nothing is cut. */
export function runTable(rows: readonly ListedRun[], now: number, width: number | undefined): string {
  const short = shortIds(rows.map(({ run }) => run));
  const shown = (text: string, most: number) => (width === undefined ? text : cut(text, most));
  const table = columns(
    ['RUN', 'NAME', 'OUTCOME', 'AGE', 'TOOK', 'POLICY', 'INPUTS', 'REASON'],
    rows.map((row) => [
      width === undefined ? row.run : (short.get(row.run) ?? row.run),
      shown(row.name ?? '-', 24),
      row.outcome ?? row.status,
      roughly(now - Date.parse(row.acceptedAt)),
      took(row),
      shown(row.policy ?? '-', 16),
      shown(row.inputs.join(',') || '-', 20),
      inCommands(row.waiting?.message ?? row.reason),
    ]),
  );
  if (width === undefined) return table;
  return table
    .split('\n')
    .map((line) => cut(line, width))
    .join('\n');
}
