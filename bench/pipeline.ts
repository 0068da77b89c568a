import { recordKeys, workKeys } from '@hotcell/record/layout.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { openBed } from '../test/support/bed.ts';
import { type House, openHouse } from '../test/support/house.ts';
import { keysOf } from '../test/support/promise.ts';
import { echoedRuns, roomy } from './support/echoed-runs.ts';
import { many, secondsOf } from './support/many.ts';
import { type Bench, median } from './support/row.ts';

const atOnce = 16;
const rounds = 3;

/** Runs per second end to end, without containers. Baseline: the same bare requests to the same store. */
export async function bench({ target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using house = await openHouse(bed);
  await house.worker('one', { env: roomy });
  const count = quick ? 50 : 400;
  await echoedRuns(house, 20);
  const figures = { ours: [] as number[], bare: [] as number[] };
  for (let i = 0; i < rounds; i++) {
    figures.ours.push(count / (await secondsOf(() => echoedRuns(house, count))));
    figures.bare.push(count / (await secondsOf(() => bareRequests(house, count))));
  }
  const [value, baseline] = [median(figures.ours), median(figures.bare)];
  target({ name: 'pipeline', value, unit: 'runs/s', baseline, target: 0.6, atLeast: true });
  await house.store.deleteMany(house.store.work, await keysOf(house.store, house.store.work));
}

/** The same puts and gets of the same sizes, and nothing else. */
async function bareRequests({ store, tenant }: House, count: number): Promise<void> {
  const small = 'x'.repeat(300);
  const result = 'x'.repeat(2500);
  await many(count, atOnce, async () => {
    const run = newRunId();
    await store.putIfAbsent(store.record, recordKeys.spec(tenant, run), result);
    await store.putIfAbsent(store.work, workKeys.open(tenant, run), small);
    await store.getBytes(store.record, recordKeys.spec(tenant, run));
    await store.putIfAbsent(store.work, workKeys.claim(run, 1), small);
    await store.head(store.record, recordKeys.result(tenant, run));
    await store.put(store.record, recordKeys.log(tenant, run, { attempt: 1 }), small);
    await store.putIfAbsent(store.record, recordKeys.result(tenant, run), result);
    await store.put(store.work, workKeys.done(tenant, run), small);
  });
}
