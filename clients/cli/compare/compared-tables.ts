import { columns } from '../columns.ts';
import { visibleLine } from '../visible.ts';
import type { Described, Side, Table } from './describe-tables.ts';

const grouped = new Intl.NumberFormat('en-US');
const change = (before: string | undefined, after: string | undefined) =>
  before === undefined || after === undefined || before === after
    ? (after ?? before ?? '')
    : `${before || '-'} → ${after || '-'}`;

/** Each table as lines: its rows, and of its columns those that differ. */
export function comparedTables(described: Described): string {
  const byPath = Map.groupBy(described, ({ path }) => path);
  return [...byPath].map(([path, sides]) => comparedTable(path, sides)).join('\n');
}

function comparedTable(path: string, sides: Described): string {
  const on = (side: Side) => sides.find((one) => one.side === side);
  const problems = sides.flatMap((one) =>
    'problem' in one ? [`${visibleLine(path)} (${one.side}): not read: ${visibleLine(one.problem)}\n`] : [],
  );
  if (problems.length > 0) return problems.join('');
  const [before, after] = [tableOf(on('before')), tableOf(on('after'))];
  const rows = change(before && grouped.format(before.rows), after && grouped.format(after.rows));
  const count = change(before && String(widthOf(before)), after && String(widthOf(after)));
  const s = (text: string) => (text === '1' ? '' : 's');
  const head = `${visibleLine(path)}: ${rows} row${s(rows)}, ${count} column${s(count)}\n`;
  const differing = columnRows(before, after);
  return differing.length === 0 ? head : head + columns(['', 'COLUMN', 'TYPE', 'TOTAL'], differing);
}

const tableOf = (one: Described[number] | undefined): Table | undefined => (one && 'rows' in one ? one : undefined);
const widthOf = ({ columns: shown, more }: Table) => shown.length + more;

/** With both sides, what differs; with one, all. */
function columnRows(before: Table | undefined, after: Table | undefined): string[][] {
  const names = new Set([...(before?.columns ?? []), ...(after?.columns ?? [])].map(({ name }) => name));
  return [...names].flatMap((name) => {
    const [old, now] = [before, after].map((table) => table?.columns.find((column) => column.name === name));
    if (old && now && old.type === now.type && old.total === now.total) return [];
    const mark = before && after ? (old ? (now ? 'changed' : 'removed') : 'added') : '';
    return [[mark, name, change(old?.type, now?.type), change(old && (old.total ?? ''), now && (now.total ?? ''))]];
  });
}
