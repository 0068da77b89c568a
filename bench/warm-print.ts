import { join } from 'node:path';
import { must } from '@hotcell/setup/command.ts';
import { openBed } from '../test/support/bed.ts';
import { follow, openKeptCells } from '../test/support/cells.ts';
import { pythonWithClient } from '../test/support/python-client.ts';
import { openLate } from '../test/support/waited-cells.ts';
import { jobOf, runtimes, took } from './support/cells.ts';
import { type Bench, median } from './support/row.ts';

const job = jobOf({ language: 'python', code: "print('hi')" });

/**
 * A print in a cell that waited, from the hand-over to the last frame, beside a warm call of AutoGen's Docker executor on
 * the same image.
 */
export async function bench({ row, target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  const python = await pythonWithClient(bed);
  const script = join(import.meta.dirname, 'support/autogen_warm.py');
  const rounds = quick ? 5 : 40;
  const said = await must([python, script, String(rounds), bed.images.python.ref, await bed.folder('autogen-warm')]);
  const baseline = Number(said);
  await using made = await openKeptCells(bed, 'warm-print');
  for (const runtime of runtimes) {
    const whole: number[] = [];
    const handedOver: number[] = [];
    for (let i = 0; i < rounds; i++) {
      const { waiting, plan, fill } = await openLate(made, made.plan(runtime));
      const begun = performance.now();
      const cell = await waiting.handOver(plan, () => undefined);
      await fill();
      handedOver.push(performance.now() - begun);
      const ran = await took(() => follow(cell, job));
      whole.push(ran + (handedOver.at(-1) ?? 0));
      await cell.destroy();
    }
    const value = median(whole);
    if (runtime === 'runc') target({ name: `warm-print/${runtime}`, value, unit: 'ms', baseline, target: 1 / 3 });
    else row({ name: `warm-print/${runtime}`, value, unit: 'ms', baseline });
    row({ name: `warm-print/${runtime}-hand-over`, value: median(handedOver), unit: 'ms' });
  }
}
