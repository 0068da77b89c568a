import { type Globals, printJson } from './globals.ts';
import { visibleLine } from './visible.ts';

/** Aligned rows under their heads. A stranger's text stays inside its cell. */
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

/** Each item as a line of JSON with --json, as a row of a table without. */
export function printRows<T>(
  { json }: Globals,
  items: readonly T[],
  heads: readonly string[],
  rowOf: (item: T) => readonly string[],
): void {
  if (json) items.forEach(printJson);
  else process.stdout.write(columns(heads, items.map(rowOf)));
}

/** One pair of name and value a line; pairs without a value are omitted. */
export function pairs(rows: readonly (readonly [string, string | null | undefined])[]): string {
  const kept = rows.filter((row): row is [string, string] => row[1] !== undefined && row[1] !== null && row[1] !== '');
  const width = Math.max(...kept.map(([name]) => name.length));
  return kept.map(([name, value]) => `${name.padEnd(width)}  ${visibleLine(value)}\n`).join('');
}

export const labelsText = (labels: Readonly<Record<string, string>>, between: string) =>
  Object.entries(labels)
    .map((label) => label.join('='))
    .join(between);
