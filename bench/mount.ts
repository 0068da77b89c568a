import { openBed } from '../test/support/bed.ts';
import { follow, openTestCells } from '../test/support/cells.ts';
import { contentsAs, freezeTree, openCache, staged } from '../test/support/freezing.ts';
import { openHouse } from '../test/support/house.ts';
import { jobOf, mib, runtimes, type Runtime, took } from './support/cells.ts';
import { type Bench, median } from './support/row.ts';
import { frozenSet, smallSet } from './support/sets.ts';

/** The start of a sandbox varies by tens of milliseconds. */
const rounds = { runc: 11, gvisor: 45 };

const sets = ['empty', 'files', 'bytes'] as const;
const inTurn = (round: number) => sets.map((_, i) => sets[(i + round) % sets.length] ?? 'empty');

/**
 * The time that cached inputs add to a cell, from the pinned ids to the last frame of a job that lists one folder of them.
 * The value is the median difference to an input of one empty file. Each round takes both, in rotating order.
 */
export async function bench({ target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using house = await openHouse(bed);
  await using made = await openTestCells(bed, 'mount');
  await using contents = await contentsAs(house, 'worker');
  await using inputs = await openCache(bed, contents, 2 ** 40);
  const tenant = bed.tenant();
  // Ten paths of one content: it makes no difference to a mount, and saves generating ten GiB.
  const one = Buffer.alloc((quick ? 100 : 1024) * mib, 7);
  const snapshots = {
    empty: await freezeTree(house, tenant, { empty: '' }),
    files: await frozenSet(house, tenant, smallSet(quick)),
    bytes: await freezeTree(house, tenant, Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`f${i}`, one]))),
  };
  type Which = (typeof sets)[number];
  const job = jobOf({ argv: ['sh', '-c', 'ls /inputs/in > /dev/null'] });

  const cold = async (runtime: Runtime, which: Which) => {
    await using stack = new AsyncDisposableStack();
    return await took(async () => {
      const there = stack.use(await staged(house, inputs, tenant, { in: snapshots[which] }));
      const cell = await made.cells.open(made.plan(runtime, { mounts: there.mounts }));
      stack.defer(() => cell.destroy());
      await follow(cell, job);
    });
  };

  for (const runtime of runtimes) {
    await cold(runtime, 'empty');
    for (const parallel of [1, 4]) {
      const together = async (input: Which) =>
        median(await Promise.all(Array.from({ length: parallel }, () => cold(runtime, input))));
      const more = { files: [] as number[], bytes: [] as number[] };
      for (let i = 0; i < (quick ? 3 : rounds[runtime]); i++) {
        const ms = { empty: 0, files: 0, bytes: 0 };
        for (const which of inTurn(i)) ms[which] = await together(which);
        more.files.push(ms.files - ms.empty);
        more.bytes.push(ms.bytes - ms.empty);
      }
      for (const which of ['files', 'bytes'] as const)
        target({
          name: `mount/${runtime}-cold-${which}-${parallel}`,
          value: median(more[which]),
          unit: 'ms',
          target: 10,
        });
    }
  }
}
