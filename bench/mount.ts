import { openBed } from '../test/support/bed.ts';
import { openTestCells, runIn } from '../test/support/cells.ts';
import { contentsAs, freezeTree, openCache, staged } from '../test/support/freezing.ts';
import { openHouse } from '../test/support/house.ts';
import { jobOf, mib, runtimes, took } from './support/cells.ts';
import { type Bench, median } from './support/row.ts';
import { frozenSet, smallSet } from './support/sets.ts';

/**
 * What inputs that are cached add to a cold cell. Timed is everything from the pinned ids to the end of a job that lists
 * one folder of them and the cell's removal; the difference to the same with an input of one empty file is the value.
 */
export async function bench({ target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using house = await openHouse(bed);
  await using made = await openTestCells(bed, 'mount');
  await using contents = await contentsAs(house, 'worker');
  await using inputs = await openCache(bed, contents, 2 ** 40);
  const tenant = bed.tenant();
  // Ten paths of one content: a mount does not know, and nobody has to wait for ten GiB to be made up.
  const one = Buffer.alloc((quick ? 100 : 1024) * mib, 7);
  const snapshots = {
    empty: await freezeTree(house, tenant, { empty: '' }),
    files: await frozenSet(house, tenant, smallSet(quick)),
    bytes: await freezeTree(house, tenant, Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`f${i}`, one]))),
  };
  const job = jobOf({ argv: ['sh', '-c', 'ls /inputs/in > /dev/null'] });
  for (const runtime of runtimes) {
    const once = (which: keyof typeof snapshots) =>
      took(async () => {
        await using there = await staged(house, inputs, tenant, { in: snapshots[which] });
        await runIn(made.cells, made.plan(runtime, { mounts: there.mounts }), job);
      });
    for (const which of ['empty', 'files', 'bytes'] as const) await once(which);
    for (const parallel of [1, 4])
      for (const which of ['files', 'bytes'] as const) {
        const together = async (input: keyof typeof snapshots) =>
          median(await Promise.all(Array.from({ length: parallel }, () => once(input))));
        const more: number[] = [];
        for (let i = 0; i < (quick ? 3 : 15); i++) more.push(-(await together('empty')) + (await together(which)));
        target({ name: `mount/${runtime}-cold-${which}-${parallel}`, value: median(more), unit: 'ms', target: 10 });
      }
  }
}
