import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Hotcell } from '@hotcell/client/index.ts';
import { type Bed, openBed } from '../test/support/bed.ts';
import { openHouse } from '../test/support/house.ts';
import { settle, startProducer } from '../test/support/producer.ts';
import { spawnWorker } from '../test/support/real-worker.ts';
import { type Bench, median } from './support/row.ts';

const without = pathToFileURL(join(import.meta.dirname, 'support/without-evidence.process.ts')).href;

/** Whole runs in sealed cells, from the request to the answer, in turns beside a worker that leaves evidence out. */
export async function bench({ target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using ours = await openRuns(bed, {});
  await using bare = await openRuns(bed, { NODE_OPTIONS: `--import ${without}` });
  const figures = { ours: [] as number[], bare: [] as number[] };
  const pairs = quick ? 20 : 200;
  for (let i = 0; i < 3; i++) await Promise.all([ours.run(), bare.run()]);
  for (let i = 0; i < pairs; i++) {
    figures.ours.push(await ours.run());
    figures.bare.push(await bare.run());
  }
  const [value, baseline] = [median(figures.ours), median(figures.bare)];
  target({ name: 'end-to-end/evidence', value, unit: 'ms', baseline, target: 1.05 });
}

/** An installation of its own for each, which share the machine and the store. */
async function openRuns(bed: Bed, env: Readonly<Record<string, string>>) {
  const stack = new AsyncDisposableStack();
  const house = stack.use(await openHouse(bed));
  const producer = stack.use(await startProducer(bed, house));
  const worker = stack.use(await spawnWorker(bed, house, 'one', env));
  await worker.saying('ready for tickets');
  const client = await producer.client('submitter');
  stack.defer(async () => await settle(house, producer));
  return { run: async () => await msOf(client), [Symbol.asyncDispose]: async () => await stack.disposeAsync() };
}

async function msOf(client: Hotcell): Promise<number> {
  const began = performance.now();
  const run = await client.submit({ blocks: [{ language: 'python', code: 'print(1)' }] });
  const { outcome, reason } = await run.result();
  if (outcome !== 'succeeded') throw new Error(reason);
  return performance.now() - began;
}
