import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { canonical, hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { workKeys } from '@hotcell/record/layout.ts';
import { newRunId, type RunId } from '@hotcell/contract/names.ts';
import type { OpenMarker } from '@hotcell/record/schemas.ts';
import { cancelRun } from '@hotcell/producer/cancel.ts';
import { enqueue } from '@hotcell/producer/enqueue.ts';
import { rowAccepted } from '@hotcell/producer/readmodel/run-changes.ts';
import { RunTables } from '@hotcell/producer/readmodel/run-tables.ts';
import { type Bed, openBed } from '../test/support/bed.ts';
import { echoQueue } from '../test/support/echo.ts';
import { type House, openHouse } from '../test/support/house.ts';
import { type RunningProducer, startProducer } from '../test/support/producer.ts';
import { placeOf } from '../test/support/place.ts';
import { keysOf } from '../test/support/promise.ts';
import { startValkey } from '../test/support/valkey.ts';
import { many } from './support/many.ts';
import { type Bench, quantile } from './support/row.ts';

const atOnce = 32;
const lookEveryMs = 20;

/**
 * With a hundred thousand waiting runs: the cost of submitting one more and of listing them, with an almost empty queue as
 * the baseline, measured in turns; of finding the last one's position and cancelling it; and the memory of each in Valkey.
 */
export async function bench({ row, target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using valkey = await startValkey(bed);
  const open = () => openHouse(bed, { redisUrl: valkey.url, mostQueued: 1_000_000 });
  await using few = await open();
  await using house = await open();
  const deep = quick ? 5_000 : 100_000;
  const asked = quick ? 100 : 1_000;
  const used = async () => Number(/^used_memory:(\d+)/m.exec(await valkey.cli('INFO', 'memory'))?.[1]);
  const before = await used();
  const waiting = Array.from({ length: deep }, (_, i) => markerOf(house, i));
  const heapBefore = heap();
  await many(deep, atOnce, (i) => enqueue(house.producer, waiting[i] ?? markerOf(house, i), {}));
  const perRun = ((await used()) - before) / deep;
  const heapAfter = heap();
  const submitted = new Map<House, RunId[]>([few, house].map((to) => [to, []]));
  const submit = (to: House) => async () => void submitted.get(to)?.push((await to.submit('print hello')).run);
  compare('submit', await inTurns(asked, submit(few), submit(house)), 2);
  target({ name: 'deep-queue/valkey-per-run', value: perRun, unit: 'bytes', target: 1024 });
  row({ name: 'deep-queue/producer-heap', value: heapAfter, unit: 'MiB', baseline: heapBefore });

  await many(deep, 2 * atOnce, (i) => putMarker(house, waiting[i]));
  await using producerOfFew = await producerOf(bed, few, []);
  await using producer = await producerOf(bed, house, waiting);
  const list = (from: RunningProducer) => async () => void (await (await from.ask('GET', '/v1/runs')).arrayBuffer());
  // The producer has caught up since its start.
  await pause(quick ? 5_000 : 30_000);
  await inTurns(50, list(producerOfFew), list(producer));
  compare('list', await inTurns(asked, list(producerOfFew), list(producer)), 2);
  const place = (of: House) => async () => void (await placeOf(of, submitted.get(of)?.at(-1) ?? ''));
  compare('position', await inTurns(asked, place(few), place(house)));
  const cancel = (of: House) => async () => {
    const run = submitted.get(of)?.pop();
    if (run) await cancelRun(of.producer, { tenant: of.tenant, run, by: 'bench', reason: 'measured' });
  };
  compare('cancel', await inTurns(asked / 5, cancel(few), cancel(house)));
  const rss = { value: await rssOf(producer), baseline: await rssOf(producerOfFew) };
  row({ name: 'deep-queue/producer-rss', unit: 'MiB', ...rss });
  for (const { store } of [few, house]) await store.deleteMany(store.work, await keysOf(store, store.work));

  function compare(what: string, [baseline, value]: readonly [number[], number[]], most?: number): void {
    const at = (q: number) => ({ value: quantile(value, q), unit: 'ms', baseline: quantile(baseline, q) });
    row({ name: `deep-queue/${what}-p50`, ...at(0.5) });
    const p99 = { name: `deep-queue/${what}-p99`, ...at(0.99) };
    if (most === undefined) row(p99);
    else target({ ...p99, target: most });
  }
}

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');
/** Memory really held. */
function heap(): number {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** The time of each, in turns, so that other load on the machine affects both alike. */
async function inTurns(
  count: number,
  one: () => Promise<unknown>,
  other: () => Promise<unknown>,
): Promise<readonly [number[], number[]]> {
  const took: [number[], number[]] = [[], []];
  for (let i = 0; i < count; i++) {
    for (const [at, work] of [one, other].entries()) {
      const since = performance.now();
      await work();
      took[at]?.push(performance.now() - since);
    }
    await pause(lookEveryMs);
  }
  return took;
}

/** A producer that already knows all of them and keeps watching them. */
async function producerOf(bed: Bed, house: House, waiting: readonly OpenMarker[]): Promise<RunningProducer> {
  const folder = await bed.folder('lists');
  await mkdir(folder, { recursive: true });
  {
    using tables = RunTables.open(join(folder, 'runs.sqlite'));
    tables.write(waiting.map((marker) => rowAccepted({ ...listed, ...marker }, marker.queue)));
  }
  return await startProducer(bed, house, { HOTCELL_STATE_DIR: folder });
}

async function rssOf({ child }: RunningProducer): Promise<number> {
  const status = await readFile(`/proc/${child.process.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

const listed = {
  blocks: [],
  inputs: [],
  policy: { name: 'sealed', digest: sha256('') },
  requester: { key: 'bench', role: 'submitter' },
  labels: {},
} as const;

/** Half of them belong to the tenant that lists. */
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
  if (!marker) return;
  const body = Buffer.from(canonical(marker));
  await store.bytes.put(store.work, workKeys.open(marker.tenant, marker.run), body, hexOf(sha256(body)));
}
