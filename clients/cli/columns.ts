import { visibleLine } from './visible.ts';

/** Rows under their heads, aligned; whatever a stranger put into a cell stays in its cell. */
export function columns(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heads, ...rows.map((row) => row.map(visibleLine))];
  const widths = heads.map((_, at) => Math.max(...all.map((row) => (row[at] ?? '').length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  return `${all.map(line).join('\n')}\n`;
}

/** Names and what they stand for, one pair a line; pairs without a value are left out. */
export function pairs(rows: readonly (readonly [string, string | null | undefined])[]): string {
  const kept = rows.filter((row): row is [string, string] => row[1] !== undefined && row[1] !== null && row[1] !== '');
  const width = Math.max(...kept.map(([name]) => name.length));
  return kept.map(([name, value]) => `${name.padEnd(width)}  ${visibleLine(value)}\n`).join('');
}
