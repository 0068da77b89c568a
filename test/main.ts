import { globSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { crashPointReport } from './support/runner/crash-points.ts';
import { type Lane, runLanes } from './support/runner/lanes.ts';
import { report } from './support/runner/report.ts';

/** `npm test` runs everything that a change must pass, `--unit` what needs no services, FILE… only these files. */
const root = resolve(import.meta.dirname, '..');
const args = process.argv.slice(2);
const unitOnly = args.includes('--unit');
const named = args.filter((arg) => !arg.startsWith('--')).map((file) => resolve(file));

const find = (...patterns: string[]) =>
  patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .map((file) => join(root, file))
    .toSorted();

/** The fault tests that take longest, started first: started last, they would run alone at the end. */
const longest = ['mixed-load', 'engine', 'valkey', 'store', 'disk', 'crash-producer', 'crash-worker'];
function rank(file: string): number {
  const at = longest.indexOf(basename(file, '.test.ts'));
  return at < 0 ? longest.length : at;
}
const isUnit = (file: string) => file.startsWith(join(root, 'test/unit/'));

function lanes(): Lane[] {
  if (named.length > 0) return [{ name: 'named', files: named, concurrency: 1 }];
  if (unitOnly) return [{ name: 'unit', files: find('test/unit/**/*.test.ts'), concurrency: 3 }];
  const faults = find('test/faults/**/*.test.ts').toSorted((a, b) => rank(a) - rank(b));
  const rest = find('test/**/*.test.ts').filter((file) => !faults.includes(file));
  // Fault tests mostly wait for time-outs, so they cost little beside the rest.
  return [
    { name: 'faults', files: faults, concurrency: 3 },
    { name: 'all else', files: rest, concurrency: 2 },
  ];
}

/** After a full run, prints how often each crash point was reached. */
function crashPoints(reached: string): string[] {
  if (named.length > 0) return [];
  const { lines, never } = crashPointReport(root, reached);
  process.stdout.write(`\ncrash points:\n${lines.map((line) => `  ${line}\n`).join('')}`);
  return never.map((name) => `the crash point ${name} was never reached`);
}

async function tested(chosen: readonly Lane[]): Promise<number> {
  if (chosen.every((lane) => lane.files.every(isUnit))) return report(await runLanes(root, chosen), []);
  const { withBed } = await import('./support/runner/bed.ts');
  return withBed(root, async (look, notes) => {
    const reached = join(notes, 'crash-points');
    writeFileSync(reached, '');
    process.env['TEST_REACHED'] = reached;
    const count = await runLanes(root, chosen);
    return report(count, [...crashPoints(reached), ...(await look())]);
  });
}

// A file that hung may have left something open in this process: exit anyway.
process.exit(await tested(lanes()));
