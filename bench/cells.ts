import { openBed } from '../test/support/bed.ts';
import { openHouse } from '../test/support/house.ts';
import { resultOf, settled } from '../test/support/promise.ts';
import { pinPolicy, spawnWorker } from '../test/support/real-worker.ts';
import { openTestCells } from '../test/support/cells.ts';
import { testLimits } from '../test/support/limits.ts';
import { bareCells } from './support/bare.ts';
import { mib } from './support/cells.ts';
import { endsIn } from './support/ends.ts';
import { many, secondsOf } from './support/many.ts';
import { type Bench, median } from './support/row.ts';
import { sameOptions } from './support/same-options.ts';

const atOnce = 4;
const asked = 2 * atOnce;
const rounds = 3;
const code = `print('hi')`;

/**
 * Runs per second in real cells, four at a time. The baseline is as many containers with a cell's options, made by engine
 * calls alone, four at a time; for information also containers with minimal options. A few more runs wait in the queue, as
 * they do wherever throughput matters, and submitting them is part of the measurement.
 */
export async function bench({ row, target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using house = await openHouse(bed);
  const real = await pinPolicy(bed, house, 'sealed');
  await using worker = await spawnWorker(bed, house, 'one', {
    HOTCELL_RUNS: String(atOnce),
    HOTCELL_CPUS: String(atOnce),
  });
  await worker.saying('ready for tickets');
  using ends = await endsIn(house);
  const runs: string[] = [];
  const ours = async () => {
    const { run } = await house.submit('', {
      spec: { ...real.spec, blocks: [{ language: 'python', code }] },
      queue: real.queue,
    });
    runs.push(run);
    await ends.of(run);
    const { outcome, reason } = await resultOf(house, run, 120_000);
    if (outcome !== 'succeeded') throw new Error(reason);
  };
  await using made = await openTestCells(bed, 'cells');
  // The limits of the policy `sealed`.
  const limits = { ...testLimits, cpus: 1, memoryBytes: 512 * mib, pids: 256 };
  const command = ['python3', '-c', code];
  const alike = await sameOptions(bed, made, made.plan('runc', { limits }));
  const least = bareCells();
  const labels = { 'hotcell.managed': '1', 'hotcell.installation': bed.installation.id, 'hotcell.role': 'test' };
  const works = {
    ours,
    alike: () => alike(command),
    least: () => least.run({ image: bed.images.python.digest, command, labels }),
  };
  const count = quick ? 8 : 40;
  for (const work of Object.values(works)) await many(atOnce, atOnce, work);
  const figures = { ours: [] as number[], alike: [] as number[], least: [] as number[] };
  for (let i = 0; i < rounds; i++) {
    figures.ours.push(count / (await secondsOf(() => many(count, asked, ours))));
    figures.alike.push(count / (await secondsOf(() => many(count, atOnce, works.alike))));
    figures.least.push(count / (await secondsOf(() => many(count, atOnce, works.least))));
  }
  const value = median(figures.ours);
  target({ name: 'cells', value, unit: 'runs/s', baseline: median(figures.alike), target: 0.85, atLeast: true });
  row({ name: 'cells/least', value, unit: 'runs/s', baseline: median(figures.least) });
  await settled(house, runs);
  await worker.stop();
}
