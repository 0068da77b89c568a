import { inLanes } from '@hotcell/contract/lanes.ts';
import type { Change } from './changes.ts';
import type { TestFiles } from './nearest.ts';
import { type Baseline, baselineOf } from './reach.ts';
import type { Scratch } from './scratch.ts';
import { passes } from './trial.ts';

/** How many files that execute it a mutant has to survive. */
const unitFiles = 12;
const systemFiles = 4;
/** How many system test files are tried for those that execute it. */
const systemCandidates = 10;

export interface Survivor extends Change {
  /** The test files that executed it and passed. */
  ran: string[];
}
type Told = (fate: 'killed' | 'survived', change: Change) => void;

/** Each mutant against the unit tests that execute it, the closest first, until enough were tried. */
export async function byUnitTests(
  scratches: readonly Scratch[],
  tests: TestFiles,
  changes: readonly Change[],
  wanted: number,
  told: Told,
): Promise<{ tried: number; survivors: Survivor[] }> {
  const baselines = await allBaselines(scratches, tests.allUnit);
  const survivors: Survivor[] = [];
  const waiting = [...changes];
  let tried = 0;
  const lane = async (scratch: Scratch) => {
    for (let change = waiting.shift(); change && tried < wanted; change = waiting.shift()) {
      const mutant = change;
      const near = tests
        .unit(mutant.file)
        .filter((file) => baselines.get(file)?.executes(mutant))
        .slice(0, unitFiles);
      tried++;
      const survived = await scratch.changed(mutant, () => passAll(scratch, near));
      // The type checker refuses it: that is no mutant, and another one is taken.
      if (survived === undefined) tried--;
      else told(survived ? 'survived' : 'killed', mutant);
      if (survived) survivors.push({ ...mutant, ran: near });
    }
  };
  await Promise.all(scratches.map(lane));
  return { tried, survivors };
}

async function passAll(scratch: Scratch, files: readonly string[]): Promise<boolean> {
  for (const file of files) if (!(await passes(scratch.root, file, 'unit'))) return false;
  return true;
}

async function allBaselines(scratches: readonly Scratch[], files: readonly string[]): Promise<Map<string, Baseline>> {
  const found = new Map<string, Baseline>();
  const waiting = [...files];
  const lane = async (scratch: Scratch) => {
    for (let file = waiting.shift(); file; file = waiting.shift())
      found.set(file, await baselineOf(scratch.root, file, 'unit'));
  };
  await Promise.all(scratches.map(lane));
  for (const [file, { passed }] of found)
    if (!passed) throw new Error(`${file} fails without any change: mend it first`);
  return found;
}

/** Those that unit tests let live, against the system tests that execute them, the quickest first. */
export async function bySystemTests(
  scratches: readonly Scratch[],
  tests: TestFiles,
  survivors: readonly Survivor[],
  told: Told,
): Promise<Survivor[]> {
  // A file runs once at a time: two of it would meet under the names that it gives things in the engine.
  const turns = new Map<string, Promise<unknown>>();
  const inTurn = <T>(file: string, work: () => Promise<T>): Promise<T> => {
    const turn = (turns.get(file) ?? Promise.resolve()).then(work);
    turns.set(file, turn);
    return turn;
  };
  const baselines = new Map<string, Promise<Baseline>>();
  const baseline = (scratch: Scratch, file: string) => {
    const known = baselines.get(file) ?? inTurn(file, () => baselineOf(scratch.root, file, 'system'));
    baselines.set(file, known);
    return known;
  };
  const left: Survivor[] = [];
  const free = [...scratches];
  await inLanes(scratches.length, survivors, async (change) => {
    const scratch = free.pop();
    if (!scratch) return;
    const near: { file: string; ms: number }[] = [];
    for (const file of tests.system(change).slice(0, systemCandidates)) {
      const { passed, ms, executes } = await baseline(scratch, file);
      if (near.length < systemFiles && passed && executes(change)) near.push({ file, ms });
    }
    near.sort((a, b) => a.ms - b.ms);
    const survived = await scratch.changed(change, async () => {
      for (const { file } of near) if (!(await inTurn(file, () => passes(scratch.root, file, 'system')))) return false;
      return true;
    });
    told(survived ? 'survived' : 'killed', change);
    if (survived) left.push({ ...change, ran: [...change.ran, ...near.map(({ file }) => file)] });
    free.push(scratch);
  });
  return left;
}
