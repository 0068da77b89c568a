import assert from 'node:assert/strict';
import { sha256 } from '@hotcell/contract/digest.ts';
import { dayMs } from '@hotcell/contract/day-length.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { newRunId, RunId } from '@hotcell/contract/names.ts';
import type { Steps } from '@hotcell/executor-worker/worker.ts';
import { LeadLost, Lead } from '@hotcell/producer/lead.ts';
import { OpenRuns } from '@hotcell/producer/queue-again.ts';
import { putOpenMarker } from '@hotcell/record/run-marks.ts';
import type { Bed } from './bed.ts';
import { echoQueue, echoSteps } from './echo.ts';
import { type House, openHouse } from './house.ts';
import { resultOf } from './promise.ts';

const atOnce = 32;

/**
 * One tenant floods the queue of a worker that has room for one run, and a light tenant submits one run after the other.
 * Answers the most runs of the flood that began while one of the light tenant's waited.
 */
export async function floodBesideLight(bed: Bed, { flood, light }: { flood: number; light: number }): Promise<number> {
  await using house = await openHouse(bed, { mostQueued: 2 * flood });
  const spec = { tenant: `f-${house.tenant}` };
  await inLanes(atOnce, Array(flood).keys(), async () => void (await house.submit('last 5', { spec })));
  const began: string[] = [];
  const seal: Steps['seal'] = async (plan, ...rest) => {
    began.push(plan.run);
    return await echoSteps.seal(plan, ...rest);
  };
  const worker = await house.worker('one', { env: { HOTCELL_RUNS: '1' }, steps: { ...echoSteps, seal } });
  let most = 0;
  for (let n = 0; n < light; n++) {
    const { run } = await house.submit('print hello');
    const before = began.length;
    assert.equal((await resultOf(house, run)).outcome, 'succeeded');
    most = Math.max(most, began.indexOf(run) - before);
  }
  await worker.stop();
  assert.ok(began.length < flood, 'the flood lasted to the end');
  return most;
}

/** As `tenants` of a producer that this test does not have left them: open, without a ticket, and not due for long. */
async function acceptDelayed({ store, tenant }: House, count: number): Promise<void> {
  const [spec, acceptedAt] = [sha256(''), new Date().toISOString()];
  const notBefore = new Date(Date.now() + 20 * dayMs).toISOString();
  await inLanes(2 * atOnce, Array(count).keys(), async () => {
    const run = RunId.parse(newRunId());
    await putOpenMarker(store, { version: 1, run, tenant, spec, queue: echoQueue, priority: 5, acceptedAt, notBefore });
  });
}

/**
 * Looks through so many open runs, all of which have to be read, while another producer asks for the lead without a
 * pause. Either the sweep keeps its lead to the end, or it loses it and ends: never do two go on.
 */
export async function longSweep(bed: Bed, { open, leadMs }: { open: number; leadMs: number }): Promise<string> {
  await using house = await openHouse(bed);
  await acceptDelayed(house, open);
  const { leadership } = house.producer.live;
  const lead = new Lead(leadership, { task: 'a-sweep', me: 'one', forMs: leadMs });
  assert.equal(await lead.take(), true);
  const over = new AbortController();
  let [asked, ledBy, passes] = [0, 'one', 0];
  const rival = (async () => {
    for (; !over.signal.aborted && ledBy === 'one'; asked++)
      if (await leadership.lead('a-sweep', 'another', 60_000)) ledBy = 'another';
  })();
  const keep = async () => {
    passes++;
    const rivalLed = ledBy !== 'one';
    await lead.keep();
    assert.equal(rivalLed, false, 'the sweep went on although another producer led');
  };
  const swept = await new OpenRuns(house.producer, over.signal).sweepAll(keep).then(
    () => 'kept its lead',
    (error: unknown) => {
      if (error instanceof LeadLost) return 'lost its lead and ended';
      throw error;
    },
  );
  over.abort();
  await rival;
  if (swept === 'kept its lead') assert.ok(passes > open / 100, `it kept its lead ${passes} times`);
  else assert.equal(ledBy, 'another');
  assert.ok(asked > 0, 'another producer asked for the lead');
  assert.equal(await house.producer.queues.of(echoQueue).depth(), 0, 'what is not due has no ticket');
  return swept;
}
