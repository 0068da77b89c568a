import { join } from 'node:path';
import { must } from '@hotcell/setup/command.ts';
import { openBed } from '../test/support/bed.ts';
import { follow, openKeptCells } from '../test/support/cells.ts';
import { shippedPreload } from '../test/support/preload-cells.ts';
import { pythonWithClient } from '../test/support/python-client.ts';
import { openLate } from '../test/support/waited-cells.ts';
import { jobOf, runtimes, took } from './support/cells.ts';
import { type Bench, median } from './support/row.ts';

const code = "import pandas as pd\npd.DataFrame({'a': [1]})\nprint('hi')";
const job = jobOf({ language: 'python', code });
const targets = { runc: 1 / 5, gvisor: 1 / 2 } as const;

/**
 * A program with pandas in a cell that waited with it, from the hand-over to the last frame, beside a warm call of AutoGen's
 * Docker executor on the same image.
 */
export async function bench({ target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  const python = await pythonWithClient(bed);
  const script = join(import.meta.dirname, 'support/autogen_warm.py');
  const rounds = quick ? 5 : 40;
  const folder = await bed.folder('autogen-pandas');
  const said = await must([python, script, String(rounds), bed.images.python.ref, folder, code]);
  const baseline = Number(said);
  await using made = await openKeptCells(bed, 'warm-pandas');
  for (const runtime of runtimes) {
    const whole: number[] = [];
    const more = runtime === 'runc' ? { preload: shippedPreload() } : {};
    for (let i = 0; i < rounds; i++) {
      const { waiting, plan, fill } = await openLate(made, made.plan(runtime, more));
      whole.push(
        await took(async () => {
          const cell = await waiting.handOver(plan, () => undefined);
          await fill();
          await follow(cell, job);
        }),
      );
      await waiting.destroy();
    }
    target({ name: `warm-pandas/${runtime}`, value: median(whole), unit: 'ms', baseline, target: targets[runtime] });
  }
}
