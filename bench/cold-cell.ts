import { openBed } from '../test/support/bed.ts';
import { openTestCells, runIn } from '../test/support/cells.ts';
import { jobOf, runtimes, took } from './support/cells.ts';
import { type Bench, median } from './support/row.ts';
import { sameOptions } from './support/same-options.ts';

const command = ['sh', '-c', 'echo hello'];

/** A cell from nothing to gone, beside the engine's calls alone for a container with the same options but its network. */
export async function bench({ target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using made = await openTestCells(bed, 'cold-cell');
  for (const runtime of runtimes) {
    const plan = () => made.plan(runtime);
    const ours = async () => {
      const told = await runIn(made.cells, plan(), jobOf({ argv: command }));
      if (told.logs[0] !== 'hello\n') throw new Error(`the cell said ${JSON.stringify(told.logs)}`);
    };
    const plain = await sameOptions(bed, made, plan());
    const bare = async () => {
      const said = await plain(command);
      if (said !== 'hello\n') throw new Error(`the container said ${JSON.stringify(said)}`);
    };
    await ours();
    await bare();
    for (const parallel of [1, 4]) {
      const together = (work: () => Promise<void>) =>
        took(() => Promise.all(Array.from({ length: parallel }, work))).then((ms) => ms / parallel);
      const figures = { ours: [] as number[], bare: [] as number[] };
      for (let i = 0; i < (quick ? 3 : 20); i++) {
        figures.ours.push(await together(ours));
        figures.bare.push(await together(bare));
      }
      target({
        name: `cold-cell/${runtime}-${parallel}`,
        value: median(figures.ours),
        unit: 'ms',
        baseline: median(figures.bare),
        target: 1,
      });
    }
  }
}
