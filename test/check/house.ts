import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const rooms =
  '{contract,mcp,outside,record,policies,setup,producer,executor-worker,keeper,notary,clients,images}/**/*.{ts,c,h,py}';

export interface SourceFile {
  path: string;
  lines: number;
}

/** Files small enough to have one idea each, and no two with one name. */
export function houseTroubles(files: readonly SourceFile[]): string[] {
  const byName = Map.groupBy(files, ({ path }) => basename(path));
  const lengths = files.map(({ lines }) => lines).toSorted((a, b) => a - b);
  const median = lengths[Math.floor(lengths.length / 2)] ?? 0;
  return [
    ...[...byName].flatMap(([name, { length }]) =>
      length === 1 ? [] : [`${length} files are named ${name}: name each after its own idea`],
    ),
    ...files.flatMap(({ path, lines }) => (lines <= 300 ? [] : [`${path} has ${lines} lines: split it (at most 300)`])),
    ...(median <= 80
      ? []
      : [`half of all files have more than ${median} lines: split some (the median is at most 80)`]),
  ];
}

export function sourceFiles(root: string): SourceFile[] {
  return globSync(rooms, { cwd: root, exclude: (name) => name === 'node_modules' }).map((path) => ({
    path,
    lines: readFileSync(join(root, path), 'utf8').split('\n').length - 1,
  }));
}
