import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { containerOptions } from '@hotcell/executor-worker/cell/options.ts';
import { openBed } from '../test/support/bed.ts';
import { openTestCells, runIn } from '../test/support/cells.ts';
import { jobOf, plainContainer, runtimes, took } from './support/cells.ts';
import { type Bench, median } from './support/row.ts';

const command = ['sh', '-c', 'echo hello'];
const profiles = join(import.meta.dirname, '../images/seccomp');

/** A cell from nothing to gone, beside the engine's calls alone for a container with the same options but its network. */
export async function bench({ target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using made = await openTestCells(bed, 'cold-cell');
  const machine = process.arch === 'x64' ? 'x86_64' : 'aarch64';
  for (const runtime of runtimes) {
    const seccomp = JSON.stringify(JSON.parse(await readFile(join(profiles, `${runtime}-${machine}.json`), 'utf8')));
    const plan = () => made.plan(runtime);
    const ours = async () => {
      const told = await runIn(made.cells, plan(), jobOf({ argv: command }));
      if (told.logs[0] !== 'hello\n') throw new Error(`the cell said ${JSON.stringify(told.logs)}`);
    };
    const bare = async () => {
      const site = { id: 'bench', uid: randomInt(50_000, 60_000), installation: bed.installation.id, worker: 'bench' };
      const more = { createdAt: new Date(), imageId: bed.images.python.digest, imageVariables: [], files: [], seccomp };
      const { NetworkDisabled: _, ...options } = containerOptions(plan(), { ...site, ...more });
      await using container = await plainContainer(bed, runtime, command, { ...options, Entrypoint: command });
      let said = '';
      await container.start();
      for await (const { bytes } of container.attached.output) said += bytes.toString();
      await container.ended();
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
