import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Digest, hexOf } from '@hotcell/contract/digest.ts';
import { z } from 'zod';
import { engineSocket, openBed } from '../test/support/bed.ts';
import { openKeptCells, openTestCells, runIn, type TestCells } from '../test/support/cells.ts';
import type { OwnKeeper } from '../test/support/own-keeper.ts';
import { jobOf, type Runtime, runtimes, took } from './support/cells.ts';
import { cpuOf } from './support/process-account.ts';
import { type Bench, median } from './support/row.ts';
import { sameOptions } from './support/same-options.ts';

const command = ['sh', '-c', 'echo hello'];

/** What a cell may cost beside the engine calls alone. */
const targets: Readonly<Record<'engine' | 'keeper', Readonly<Record<Runtime, number>>>> = {
  engine: { runc: 1, gvisor: 1 },
  keeper: { runc: 0.2, gvisor: 0.5 },
};

class LostOutput extends Error {
  constructor(said: string) {
    super(`the container exited with 0, but the engine passed on only ${JSON.stringify(said)} of its output`);
  }
}

/**
 * The engine waits only 2 s for the streams of a container that has ended, so under load it can drop the output of a short
 * one. Such a round measured nothing and is repeated; the error of the third counts.
 */
async function again<T>(round: () => Promise<T>): Promise<T> {
  for (let left = 2; ; left--)
    try {
      return await round();
    } catch (error) {
      if (left === 0 || !(error instanceof LostOutput)) throw error;
      process.stderr.write(`${error.message}; repeating the round\n`);
    }
}

async function life({ cells, plan }: TestCells, runtime: Runtime): Promise<void> {
  const told = await runIn(cells, plan(runtime), jobOf({ argv: command }));
  if (told.logs[0] !== 'hello\n') throw new Error(`the cell said ${JSON.stringify(told.logs)}`);
}

const Bare = z.object({ times: z.array(z.number()), cpu: z.number() });

/** The same beside nothing but `crun run` of a cell's own bundle: in milliseconds, and in processor time. */
async function besideBare(
  made: TestCells & { keptBy: OwnKeeper },
  { target, rounds, parallel }: { target: Bench['target']; rounds: number; parallel: number },
): Promise<void> {
  const plan = made.plan('runc');
  const cell = await made.cells.open(plan);
  const bundle = `/keeper/cells/${cell.id}`;
  const words = [bundle, `/keeper/roots/${hexOf(Digest.parse(plan.image.digest))}/root`, `/${made.keptBy.cgroup()}`];
  const code = readFileSync(join(import.meta.dirname, 'support/bare-runtime.process.ts'), 'utf8');
  const said = await made.keptBy.evaluate(code, ...words, String(rounds), String(parallel), ...command);
  const bare = Bare.parse(JSON.parse(said));
  await cell.destroy();
  const pids = [process.pid, await made.keptBy.pid()];
  const spent = () => pids.reduce((sum, pid) => sum + cpuOf(pid), 0);
  const before = spent();
  const times: number[] = [];
  for (let n = 0; n < rounds; n++)
    times.push((await took(() => Promise.all(Array.from({ length: parallel }, () => life(made, 'runc'))))) / parallel);
  const cpu = (spent() - before) / (rounds * parallel);
  const figure = { unit: 'ms', target: 2.5 };
  target({ name: `cold-cell/beside-crun-${parallel}`, value: median(times), baseline: median(bare.times), ...figure });
  target({ name: `cold-cell/beside-crun-${parallel}-cpu`, value: cpu, baseline: bare.cpu, ...figure });
}

/**
 * The whole life of a cell, from the engine and from the keeper. Baseline: engine calls alone, for a container with the
 * same options except the network.
 */
export async function bench({ target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using engine = await openTestCells(bed, 'cold-cell', bed.id(), { dockerHost: engineSocket });
  await using keeper = await openKeptCells(bed, 'cold-cell-kept');
  const ways = { engine, keeper };
  const names = ['engine', 'keeper'] as const;
  for (const runtime of runtimes) {
    const plain = await sameOptions(bed, engine, engine.plan(runtime));
    const bare = async () => {
      const said = await plain(command);
      if (said !== 'hello\n') throw new LostOutput(said);
    };
    for (const way of names) await life(ways[way], runtime);
    await again(bare);
    for (const parallel of [1, 4]) {
      const together = (work: () => Promise<void>) =>
        took(() => Promise.all(Array.from({ length: parallel }, work))).then((ms) => ms / parallel);
      const figures = { engine: [] as number[], keeper: [] as number[], bare: [] as number[] };
      for (let i = 0; i < (quick ? 3 : 20); i++) {
        for (const way of names) figures[way].push(await together(() => life(ways[way], runtime)));
        figures.bare.push(await again(() => together(bare)));
      }
      for (const way of names)
        target({
          name: `cold-cell/${way === 'keeper' ? 'kept-' : ''}${runtime}-${parallel}`,
          value: median(figures[way]),
          unit: 'ms',
          baseline: median(figures.bare),
          target: targets[way][runtime],
        });
      if (runtime === 'runc') await besideBare(keeper, { target, rounds: quick ? 5 : 20, parallel });
    }
  }
}
