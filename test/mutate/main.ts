import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { findInstallation } from '@hotcell/setup/settings/installation.ts';
import type { Change } from './changes.ts';
import { testFilesOf } from './nearest.ts';
import { sample } from './sample.ts';
import { Scratch } from './scratch.ts';
import { bySystemTests, byUnitTests, type Survivor } from './stages.ts';

/**
 * `npm run mutate -- [--seed S] [--n N] [--unit] [PATH…]`: makes small changes to the sources, one at a time in a copy
 * of the checkout, and reports those that no test notices. `--unit`: with unit tests alone. PATH: only below it.
 */
const root = resolve(import.meta.dirname, '../..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    n: { type: 'string', default: '60' },
    unit: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const lanes = 2;

const say = (line: string) => void process.stdout.write(`${line}\n`);
const told = ({ file, line, what }: Change) => `${file}:${line}  ${what}`;

/** System tests need the installed parts: one bed serves all mutants. */
async function inBed(work: () => Promise<Survivor[]>): Promise<Survivor[]> {
  const { withBed } = await import('../support/runner/bed.ts');
  const { removeEarlier } = await import('../support/runner/left-over.ts');
  let left: Survivor[] = [];
  await withBed(root, async () => {
    left = await work();
    // Mutants leave things behind: what they leave is no finding.
    const installation = await findInstallation(process.env);
    if (installation) await removeEarlier(installation);
    return 0;
  });
  return left;
}

using stack = new DisposableStack();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    stack.dispose();
    process.exit(130);
  });
const scratches: Scratch[] = [];
while (scratches.length < lanes) scratches.push(stack.use(await Scratch.copyOf(root)));
const [scratch] = scratches;
if (!scratch) throw new Error('there is no copy to change');
const tests = testFilesOf(root);
say(`seed ${seed}`);
const changes = sample(scratch, positionals, seed);
const unit = await byUnitTests(scratches, tests, changes, Number(values.n), (fate, change) =>
  say(`${fate.padEnd(8)}  ${told(change)}`),
);
for (const file of unit.failing) say(`${file} fails without any change: it was left out`);
say(`unit tests killed ${unit.tried - unit.survivors.length} of ${unit.tried}`);
const left =
  values.unit || unit.survivors.length === 0
    ? unit.survivors
    : await inBed(() =>
        bySystemTests(scratches, tests, unit.survivors, (fate, change) => say(`${fate.padEnd(8)}  ${told(change)}`)),
      );
say('');
for (const one of left) say(`${told(one)}\n    ran: ${one.ran.join(', ') || 'no test reaches it'}`);
say(`${unit.tried} mutants, ${unit.tried - left.length} killed, ${left.length} survived`);
