import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { withBed } from '../test/support/runner/bed.ts';
import { benchTo, type Bench, type Row } from './support/row.ts';

/** `npm run bench -- [NAME…] [--json] [--quick]`: measures this machine, ours beside a baseline. */
const args = process.argv.slice(2);
const json = args.includes('--json');
const quick = args.includes('--quick');
const wanted = args.filter((arg) => !arg.startsWith('--'));
const known = globSync('*.ts', { cwd: import.meta.dirname })
  .map((file) => basename(file, '.ts'))
  .filter((name) => name !== 'main')
  .toSorted();
const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`no such benchmark: ${unknown.join(', ')}. Choose from ${known.join(', ')}\n`);
  process.exit(2);
}

function show(row: Row): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(row)}\n`);
    return;
  }
  const beside = row.baseline === null ? '' : ` beside ${row.baseline} ${row.unit} (ratio ${row.ratio})`;
  const judged = row.target === null ? '' : `, target ${row.target}: ${row.met ? 'met' : 'MISSED'}`;
  process.stdout.write(`${row.name}: ${row.value} ${row.unit}${beside}${judged}\n`);
}

process.exitCode = await withBed(join(import.meta.dirname, '..'), async () => {
  for (const name of wanted.length > 0 ? wanted : known) {
    const { bench } = (await import(`./${name}.ts`)) as { bench: (bench: Bench) => Promise<void> };
    await bench(benchTo(show, quick));
  }
  return 0;
});
