import { openBed } from '../test/support/bed.ts';
import { openHouse } from '../test/support/house.ts';
import { resultOf, settled } from '../test/support/promise.ts';
import { pinPolicy, spawnWorker } from '../test/support/real-worker.ts';
import { bareCells } from './support/bare.ts';
import { endsIn } from './support/ends.ts';
import { many, secondsOf } from './support/many.ts';
import { type Bench, median } from './support/row.ts';

const atOnce = 4;
const asked = 2 * atOnce;
const rounds = 3;
const code = `print('hi')`;

/**
 * Real cells, four at a time: runs a second, beside the same number of bare containers four at a time. A few more wait
 * in the queue, as they do wherever throughput matters; asking for them is part of what is measured.
 */
export async function bench({ target, quick }: Bench): Promise<void> {
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
  const cells = bareCells();
  const labels = { 'hotcell.managed': '1', 'hotcell.installation': bed.installation.id, 'hotcell.role': 'test' };
  const bare = async () => {
    await cells.run({ image: bed.images.python.digest, command: ['python3', '-c', code], labels });
  };
  const count = quick ? 8 : 40;
  await many(atOnce, atOnce, ours);
  await many(atOnce, atOnce, bare);
  const figures = { ours: [] as number[], bare: [] as number[] };
  for (let i = 0; i < rounds; i++) {
    figures.ours.push(count / (await secondsOf(() => many(count, asked, ours))));
    figures.bare.push(count / (await secondsOf(() => many(count, atOnce, bare))));
  }
  const [value, baseline] = [median(figures.ours), median(figures.bare)];
  target({ name: 'cells', value, unit: 'runs/s', baseline, target: 0.85, atLeast: true });
  await settled(house, runs);
  await worker.stop();
}
