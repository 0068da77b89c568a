import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { canonical, sha256 } from '@hotcell/contract/digest.ts';
import { workKeys } from '@hotcell/contract/layout.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import type { OpenMarker } from '@hotcell/contract/records.ts';
import { enqueue } from '@hotcell/producer/enqueue.ts';
import { ReadModel } from '@hotcell/producer/readmodel/model.ts';
import { type Bed, openBed } from '../test/support/bed.ts';
import { echoQueue } from '../test/support/echo.ts';
import { type House, openHouse } from '../test/support/house.ts';
import { startProducer } from '../test/support/producer.ts';
import { keysOf } from '../test/support/promise.ts';
import { startValkey } from '../test/support/valkey.ts';
import { many } from './support/many.ts';
import { type Bench, quantile } from './support/row.ts';

const atOnce = 32;
const lookEveryMs = 20;

/** A hundred thousand runs wait: what submitting one more and listing them costs then, and what each of them costs. */
export async function bench({ row, target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using valkey = await startValkey(bed);
  await using house = await openHouse(bed, { redisUrl: valkey.url, mostQueued: 1_000_000 });
  const deep = quick ? 5_000 : 100_000;
  const asked = quick ? 50 : 300;
  await submits(house, 50);
  const empty = await submits(house, asked);
  const emptyLists = await lists(bed, house, asked);
  const used = async () => Number(/^used_memory:(\d+)/m.exec(await valkey.cli('INFO', 'memory'))?.[1]);
  const before = await used();
  const heapBefore = heap();
  const waiting = Array.from({ length: deep }, (_, i) => markerOf(house, i));
  await many(deep, atOnce, (i) => enqueue(house.producer, waiting[i] ?? markerOf(house, i), {}));
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
  await many(deep, atOnce, (i) => putMarker(house, waiting[i]));
  const fullLists = await lists(bed, house, asked, waiting);
  target({
    name: 'deep-queue/list-p99',
    value: quantile(fullLists.took, 0.99),
    unit: 'ms',
    baseline: quantile(emptyLists.took, 0.99),
    target: 2,
  });
  row({
    name: 'deep-queue/list-p50',
    value: quantile(fullLists.took, 0.5),
    unit: 'ms',
    baseline: quantile(emptyLists.took, 0.5),
  });
  target({ name: 'deep-queue/valkey-per-run', value: perRun, unit: 'bytes', target: 1024 });
  row({ name: 'deep-queue/producer-heap', value: heapAfter, unit: 'MiB', baseline: heapBefore });
  row({ name: 'deep-queue/producer-rss', value: fullLists.rss, unit: 'MiB', baseline: emptyLists.rss });
  await house.store.deleteMany(house.store.work, await keysOf(house.store, house.store.work));
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

/** By HTTP, from a producer that knows of all of them and goes on looking after them meanwhile. */
async function lists(
  bed: Bed,
  house: House,
  count: number,
  waiting: readonly OpenMarker[] = [],
): Promise<{ took: number[]; rss: number }> {
  const folder = await bed.folder('lists');
  await mkdir(folder, { recursive: true });
  {
    using model = ReadModel.open(join(folder, 'runs.sqlite'));
    for (const marker of waiting) model.accepted({ ...listed, ...marker }, marker.queue);
  }
  await using producer = await startProducer(bed, house, { HOTCELL_STATE_DIR: folder });
  const list = async () => {
    const since = performance.now();
    const answer = await producer.ask('GET', '/v1/runs');
    await answer.arrayBuffer();
    return performance.now() - since;
  };
  // What a producer has to catch up with when it starts is behind it.
  for (let i = 0; i < 50; i++) await list();
  await pause(10_000);
  const took: number[] = [];
  for (let i = 0; i < count * 3; i++) {
    took.push(await list());
    await pause(lookEveryMs);
  }
  return { took, rss: await rssOf(producer.child.process.pid) };
}

async function rssOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

const listed = {
  policy: { name: 'sealed', digest: sha256('') },
  requester: { key: 'bench', role: 'submitter' },
  labels: {},
} as const;

/** Half of them are of the tenant that lists. */
function markerOf({ tenant }: House, i: number): OpenMarker {
  return {
    version: 1,
    run: newRunId(),
    tenant: i % 2 ? tenant : `tenant-${i % 50}`,
    spec: sha256(''),
    queue: echoQueue,
    priority: 5,
    acceptedAt: new Date().toISOString(),
  };
}

async function putMarker({ store }: House, marker: OpenMarker | undefined): Promise<void> {
  if (marker) await store.put(store.work, workKeys.open(marker.tenant, marker.run), canonical(marker));
}
