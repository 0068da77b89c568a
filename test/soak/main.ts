import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openBed } from '../support/bed.ts';
import { mixedLoad } from '../support/mixed-load.ts';
import { withBed } from '../support/runner/bed.ts';
import { baseImageIsReproducible } from './base-image.ts';
import { fullCrowds } from './crowds.ts';
import { fullFloods } from './floods.ts';
import { fuzzInit } from './fuzz.ts';
import { manyHostileRuns } from './hostile.ts';
import { hostileTenants } from './hostile-tenants.ts';
import { longBatch } from './long-batch.ts';
import { longWorkflow } from './long-workflow.ts';
import { manyWaitedPairs } from './waited.ts';

/**
 * `npm run soak -- --minutes N --seed S [--only base|fuzz|hostile|waited|floods|batch|workflow|crowds|tenants|drill]
 * [--cells echoed|real]`: what takes too long for every change. `--scale S` makes crowds, batch and workflow smaller. Each part runs once, then mixed loads with faults,
 * one seed after the other, with echo and real cells by turns, until the time is over.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
    only: { type: 'string' },
    cells: { type: 'string' },
    scale: { type: 'string', default: '1' },
  },
});
const end = Date.now() + Number(values.minutes) * 60_000;
const say = (line: string) => process.stdout.write(`${line}\n`);

async function drill(): Promise<string> {
  let seeds = 0;
  let accepted = 0;
  do {
    const seed = Number(values.seed) + seeds++;
    const cells = values.cells === 'real' || (values.cells === undefined && seeds % 3 === 0) ? 'real' : 'echoed';
    await using bed = await openBed();
    // Each fault comes once a round; the last round ends with the time.
    const goOn = (step: number) => step < (cells === 'real' ? 12 : 24) && Date.now() < end;
    const runs = await mixedLoad(bed, {
      seed,
      cells,
      goOn,
      say: (line) => say(`seed ${seed}, cells ${cells}, ${line}`),
    });
    accepted += runs;
    say(`seed ${seed}, cells ${cells}: ${runs} runs, every promise kept`);
  } while (Date.now() < end);
  return `${accepted} runs of ${seeds} seeds`;
}

const scaled = (whole: number) => Math.max(1, Math.round(whole * Number(values.scale)));
const fuzzSeconds = Math.ceil(Math.min(300, Number(values.minutes) * 15));
const parts: Readonly<Record<string, () => Promise<string>>> = {
  base: async () => {
    await baseImageIsReproducible(say);
    return 'made twice, the same both times';
  },
  fuzz: () => fuzzInit(fuzzSeconds),
  hostile: () => manyHostileRuns(say),
  waited: () => manyWaitedPairs(),
  floods: () => fullFloods(say),
  batch: () => longBatch(say, { items: scaled(5_000), kills: 10, seed: Number(values.seed) }),
  workflow: () => longWorkflow(say, { steps: scaled(200), kills: 10, seed: Number(values.seed) }),
  crowds: () => fullCrowds(say, Number(values.scale)),
  tenants: () => hostileTenants(say, Number(values.minutes)),
  drill,
};

/** One needs a machine that does nothing else, and the other hours: they run when they are named. */
const onlyNamed = ['tenants', 'crowds'];
const chosen = Object.entries(parts).filter(([name]) =>
  values.only === undefined ? !onlyNamed.includes(name) : name === values.only,
);
if (chosen.length === 0) {
  process.stderr.write(`there is no part ${values.only}: choose among ${Object.keys(parts).join(', ')}\n`);
  process.exit(2);
}

process.exitCode = await withBed(join(import.meta.dirname, '../..'), async (leftOver) => {
  const counts: string[] = [];
  let broken = 0;
  for (const [name, part] of chosen) {
    say(`== ${name}`);
    try {
      counts.push(`${name}: ${await part()}`);
    } catch (error) {
      broken++;
      counts.push(`${name}: BROKEN`);
      console.error(error);
    }
  }
  const left = await leftOver();
  for (const line of counts) say(line);
  for (const line of left) say(`left over: ${line}`);
  say(`${chosen.length - broken} parts held, ${broken} broke, ${left.length} things left over`);
  return broken + left.length > 0 ? 1 : 0;
});
