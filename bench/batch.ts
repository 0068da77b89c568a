import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Hotcell } from '@hotcell/client/index.ts';
import { z } from 'zod';
import { type Bed, openBed } from '../test/support/bed.ts';
import { echoOn } from '../test/support/echo-on.ts';
import { type House, openHouse } from '../test/support/house.ts';
import { openHttpProxy } from '../test/support/http-proxy.ts';
import { type RunningProducer, settle, startProducer } from '../test/support/producer.ts';
import { until } from '../test/support/until.ts';
import { echoedRuns, roomy } from './support/echoed-runs.ts';
import { endsIn } from './support/ends.ts';
import { many, secondsOf } from './support/many.ts';
import type { Bench } from './support/row.ts';

const atOnce = 16;
const patienceMs = 3_600_000;
const AcceptedRun = z.object({ run: z.string() });
const run = { blocks: [{ language: 'bash', code: 'print x' }] };

/**
 * A batch of short items, from its request to its end. Baseline: as many runs that are submitted one by one, as `pipeline`
 * does it. Then what its producer asks of the store more than for the same runs submitted by hand.
 */
export async function bench({ target, quick }: Bench): Promise<void> {
  const [items, single] = quick ? [400, 100] : [10_000, 1_000];
  await using bed = await openBed();
  await using house = await openHouse(bed);
  await house.worker('pipeline', { env: roomy });
  await house.worker('items', { env: { ...roomy, HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
  const [{ HOTCELL_S3_ENDPOINT: store = '' }] = [await house.settings('producer')];
  await using proxy = await openHttpProxy(store);
  await using producer = await startProducer(bed, house, { HOTCELL_S3_ENDPOINT: proxy.url });
  const hotcell = await producer.client();
  await echoedRuns(house, 20);
  const baseline = single / (await secondsOf(() => echoedRuns(house, single)));
  const requests = async (work: () => Promise<void>) => {
    const before = proxy.seen.length;
    await work();
    return proxy.seen.length - before;
  };
  const byHand = (await requests(() => submitted(house, producer, single))) / single;
  let seconds = 0;
  const all = await requests(async () => {
    seconds = await secondsOf(() => batchOf(bed, hotcell, items));
  });
  target({ name: 'batch', value: items / seconds, unit: 'runs/s', baseline, target: 0.5, atLeast: true });
  target({ name: 'batch/added-requests', value: all / items - byHand, unit: 'requests/item', target: 2 });
  await settle(house, producer);
}

/** Without a key, which costs requests of its own. */
async function submitted(house: House, producer: RunningProducer, count: number): Promise<void> {
  using ends = await endsIn(house);
  const under: Promise<void>[] = [];
  await many(count, atOnce, async () => {
    const answer = await producer.ask('POST', '/v1/runs', { body: JSON.stringify(run) });
    under.push(ends.of(AcceptedRun.parse(await answer.json()).run));
  });
  await Promise.all(under);
}

async function batchOf(bed: Bed, hotcell: Hotcell, items: number): Promise<void> {
  const list = join(await bed.folder('items'), 'items.jsonl');
  await writeFile(list, Array.from({ length: items }, (_, n) => JSON.stringify({ n })).join('\n'));
  const lines = (await hotcell.snapshot(list)).id;
  const { batch } = await hotcell.batches.create({ over: { lines }, parallel: 1_000, run });
  await until('the batch has ended', async () => (await hotcell.batches.show(batch)).endedAt !== null, patienceMs);
}
