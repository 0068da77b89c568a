import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { findInstallation } from '@hotcell/setup/settings/installation.ts';
import { randomFrom } from '../support/random.ts';
import { type Change, changesOf } from './changes.ts';
import { rooms, type TestFiles, testFilesOf } from './nearest.ts';
import { Scratch } from './scratch.ts';
import { passes } from './trial.ts';

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
const wanted = Number(values.n);
const lanes = 2;
/** How many system test files a mutant has to survive. */
const systemFiles = 4;

interface Survivor extends Change {
  ran: string[];
}

const say = (line: string) => void process.stdout.write(`${line}\n`);
const told = ({ file, line, what }: Change) => `${file}:${line}  ${what}`;

function sample(scratch: Scratch): Change[] {
  const below = positionals.length > 0 ? positionals : rooms;
  const files = below.flatMap((path) =>
    path.endsWith('.ts')
      ? [path]
      : globSync(`${path}/**/*.ts`, { cwd: scratch.root, exclude: (name) => name === 'node_modules' }),
  );
  const changes = files.toSorted().flatMap((file) => {
    const source = scratch.source(file);
    return source ? changesOf(file, source) : [];
  });
  const random = randomFrom(seed);
  return changes
    .map((change) => ({ change, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ change }) => change);
}

/** Each mutant against the unit tests, the closest first, until enough were tried. */
async function byUnitTests(
  scratches: readonly Scratch[],
  tests: TestFiles,
): Promise<{ tried: number; survivors: Survivor[] }> {
  const [first] = scratches;
  const waiting = first ? sample(first) : [];
  const survivors: Survivor[] = [];
  let tried = 0;
  const lane = async (scratch: Scratch) => {
    for (let change = waiting.shift(); change && tried < wanted; change = waiting.shift()) {
      const near = tests.unit(change.file);
      tried++;
      const survived = await scratch.changed(change, async () => {
        for (const files of [near.slice(0, 3), near.slice(3)])
          if (files.length > 0 && !(await passes(scratch.root, files, 'unit'))) return false;
        return true;
      });
      // The type checker refuses it: that is no mutant, and another one is taken.
      if (survived === undefined) tried--;
      if (survived === false) say(`killed    ${told(change)}`);
      if (survived !== true) continue;
      say(`${values.unit ? 'survived' : 'goes on '}  ${told(change)}`);
      survivors.push({ ...change, ran: near.length > 0 ? [`${near.length} unit test files`] : [] });
    }
  };
  await Promise.all(scratches.map(lane));
  return { tried, survivors };
}

/** Those that unit tests let live, against system tests, in one bed for all. */
async function bySystemTests(
  scratches: readonly Scratch[],
  tests: TestFiles,
  survivors: readonly Survivor[],
): Promise<Survivor[]> {
  // A file runs once at a time: two of it would meet under the names that it gives things in the engine.
  const turns = new Map<string, Promise<unknown>>();
  const runs = (scratch: Scratch, file: string): Promise<boolean> => {
    const turn = (turns.get(file) ?? Promise.resolve()).then(() => passes(scratch.root, [file], 'system'));
    turns.set(file, turn);
    return turn;
  };
  const sound = new Map<string, boolean>();
  const isSound = async (scratch: Scratch, file: string) => {
    if (!sound.has(file)) sound.set(file, await runs(scratch, file));
    return sound.get(file) === true;
  };
  const left: Survivor[] = [];
  const free = [...scratches];
  await inLanes(lanes, survivors, async (change) => {
    const scratch = free.pop();
    if (!scratch) return;
    const near: string[] = [];
    for (const file of tests.system(change).slice(0, 2 * systemFiles))
      if (near.length < systemFiles && (await isSound(scratch, file))) near.push(file);
    const survived = await scratch.changed(change, async () => {
      for (const file of near) if (!(await runs(scratch, file))) return false;
      return true;
    });
    say(`${survived ? 'survived ' : 'killed   '} ${told(change)}`);
    if (survived) left.push({ ...change, ran: [...change.ran, ...near] });
    free.push(scratch);
  });
  return left;
}

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
const tests = testFilesOf(root);
say(`seed ${seed}`);
const unit = globSync('test/unit/**/*.test.ts', { cwd: root, exclude: (name) => name === 'check' });
if (!scratch || !(await passes(scratch.root, unit, 'unit')))
  throw new Error('the unit tests fail without any change: mend them first');
const { tried, survivors } = await byUnitTests(scratches, tests);
const left =
  values.unit || survivors.length === 0 ? survivors : await inBed(() => bySystemTests(scratches, tests, survivors));
say('');
for (const one of left) say(`${told(one)}\n    ran: ${one.ran.join(', ') || 'no test reaches it'}`);
say(`${tried} mutants, ${tried - left.length} killed, ${left.length} survived`);
