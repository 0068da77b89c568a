import { newRunId } from '@hotcell/contract/names.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { enqueue } from '@hotcell/producer/enqueue.ts';
import { openBed } from '../test/support/bed.ts';
import { echoQueue } from '../test/support/echo.ts';
import { type House, openHouse } from '../test/support/house.ts';
import { startValkey } from '../test/support/valkey.ts';
import { many } from './support/many.ts';
import { type Bench, quantile } from './support/row.ts';

const atOnce = 32;

/** A hundred thousand runs wait: what submitting one more costs then, and what each of them costs in Valkey. */
export async function bench({ row, target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using valkey = await startValkey(bed);
  await using house = await openHouse(bed, { redisUrl: valkey.url, mostQueued: 1_000_000 });
  const deep = quick ? 10_000 : 100_000;
  const asked = quick ? 50 : 300;
  await submits(house, 50);
  const empty = await submits(house, asked);
  const used = async () => Number(/^used_memory:(\d+)/m.exec(await valkey.cli('INFO', 'memory'))?.[1]);
  const before = await used();
  const heapBefore = heap();
  await many(deep, atOnce, (i) => queueOne(house, i));
  const perRun = ((await used()) - before) / deep;
  const heapAfter = heap();
  const full = await submits(house, asked);
  target({
    name: 'deep-queue/submit-p99',
    value: quantile(full, 0.99),
    unit: 'ms',
    baseline: quantile(empty, 0.99),
    target: 2,
  });
  target({ name: 'deep-queue/valkey-per-run', value: perRun, unit: 'bytes', target: 1024 });
  row({ name: 'deep-queue/producer-heap', value: heapAfter, unit: 'MiB', baseline: heapBefore });
}

const heap = () => process.memoryUsage().heapUsed / 2 ** 20;

async function submits(house: House, count: number): Promise<number[]> {
  const took: number[] = [];
  for (let i = 0; i < count; i++) {
    const since = performance.now();
    await house.submit('print hello');
    took.push(performance.now() - since);
  }
  return took;
}

/** Its ticket alone: the buckets do not grow deeper by a queue. */
async function queueOne(house: House, i: number): Promise<void> {
  await enqueue(
    house.producer,
    {
      version: 1,
      run: newRunId(),
      tenant: `tenant-${i % 50}`,
      spec: sha256(''),
      queue: echoQueue,
      priority: 5,
      acceptedAt: new Date().toISOString(),
    },
    {},
  );
}
