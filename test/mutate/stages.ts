import { inLanes } from '@hotcell/contract/lanes.ts';
import type { Change } from './changes.ts';
import type { TestFiles } from './nearest.ts';
import { type Baseline, baselineOf } from './reach.ts';
import type { Scratch } from './scratch.ts';
import { type Kind, passes } from './trial.ts';

/** How many of the closest test files are asked whether they execute a change, and how many of those it has to survive. */
const most = { unit: { asked: 24, run: 12 }, system: { asked: 10, run: 4 } } as const;

export interface Survivor extends Change {
  /** The test files that executed it and passed. */
  ran: string[];
}
type Told = (fate: 'killed' | 'survived', change: Change) => void;

/** Tries mutants on one kind of tests. What each test file does without a change is measured once, when it is asked for. */
class Stage {
  readonly failing = new Set<string>();
  readonly #kind: Kind;
  readonly #tests: TestFiles;
  readonly #baselines = new Map<string, Promise<Baseline>>();
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(kind: Kind, tests: TestFiles) {
    this.#kind = kind;
    this.#tests = tests;
  }

  /** Undefined if the type checker refuses the change: that is no mutant. */
  async trial(scratch: Scratch, change: Change): Promise<{ survived: boolean; ran: string[] } | undefined> {
    const ran = await this.#executing(scratch, change);
    const survived = await scratch.changed(change, async () => {
      for (const file of ran)
        if (!(await this.#inTurn(file, () => passes(scratch.root, file, this.#kind)))) return false;
      return true;
    });
    return survived === undefined ? undefined : { survived, ran };
  }

  async #executing(scratch: Scratch, change: Change): Promise<string[]> {
    const { asked, run } = most[this.#kind];
    const near = this.#tests[this.#kind](change).slice(0, asked);
    const found: (Baseline & { file: string })[] = [];
    for (const file of near) {
      const baseline = await this.#baseline(scratch, file);
      // One that fails without any change can't tell a mutant from the original.
      if (baseline.passed) found.push({ ...baseline, file });
      else this.failing.add(file);
    }
    const executing = found.filter(({ executes }) => executes(change));
    // What runs in a container, or is killed by all its tests, leaves no account of what it executed.
    const isUnaccounted = this.#kind === 'system' && !found.some(({ knows }) => knows(change.file));
    const chosen = (isUnaccounted ? found : executing).slice(0, run);
    return (this.#kind === 'unit' ? chosen : chosen.toSorted((a, b) => a.ms - b.ms)).map(({ file }) => file);
  }

  #baseline(scratch: Scratch, file: string): Promise<Baseline> {
    const known = this.#baselines.get(file) ?? this.#inTurn(file, () => baselineOf(scratch.root, file, this.#kind));
    this.#baselines.set(file, known);
    return known;
  }

  /** A system test runs once at a time: two of it would meet under the names that it gives things in the engine. */
  async #inTurn<T>(file: string, work: () => Promise<T>): Promise<T> {
    if (this.#kind === 'unit') return await work();
    const turn = (this.#turns.get(file) ?? Promise.resolve()).then(work);
    this.#turns.set(file, turn);
    return await turn;
  }
}

/** Each mutant against the unit tests that execute it, the closest first, until enough were tried. */
export async function byUnitTests(
  scratches: readonly Scratch[],
  tests: TestFiles,
  changes: readonly Change[],
  wanted: number,
  told: Told,
): Promise<{ tried: number; survivors: Survivor[]; failing: string[] }> {
  const stage = new Stage('unit', tests);
  const survivors: Survivor[] = [];
  const waiting = [...changes];
  let tried = 0;
  const lane = async (scratch: Scratch) => {
    for (let change = waiting.shift(); change && tried < wanted; change = waiting.shift()) {
      tried++;
      const trial = await stage.trial(scratch, change);
      if (!trial) tried--;
      else told(trial.survived ? 'survived' : 'killed', change);
      if (trial?.survived) survivors.push({ ...change, ran: trial.ran });
    }
  };
  await Promise.all(scratches.map(lane));
  return { tried, survivors, failing: [...stage.failing] };
}

/** Those that unit tests let live, against the system tests that execute them, the quickest first. */
export async function bySystemTests(
  scratches: readonly Scratch[],
  tests: TestFiles,
  survivors: readonly Survivor[],
  told: Told,
): Promise<Survivor[]> {
  const stage = new Stage('system', tests);
  const left: Survivor[] = [];
  const free = [...scratches];
  await inLanes(scratches.length, survivors, async (change) => {
    const scratch = free.pop();
    if (!scratch) return;
    const trial = await stage.trial(scratch, change);
    told(trial?.survived ? 'survived' : 'killed', change);
    if (trial?.survived) left.push({ ...change, ran: [...change.ran, ...trial.ran] });
    free.push(scratch);
  });
  return left;
}
