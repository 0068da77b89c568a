import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { newRunId, RunId } from '@hotcell/contract/names.ts';
import type { Queue } from '@hotcell/outside/queue/queue.ts';
import { Queues } from '@hotcell/outside/queue/queues.ts';
import { LeadLost, Lead } from '@hotcell/producer/lead.ts';
import { OpenRuns } from '@hotcell/producer/queue-again.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { objects } from '@hotcell/record/objects.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { has } from '@hotcell/record/read-write.ts';
import { putOpenMarker } from '@hotcell/record/run-marks.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoQueue } from '../support/echo.ts';
import { type House, openHouse } from '../support/house.ts';
import { resultOf, settled } from '../support/promise.ts';
import { until } from '../support/until.ts';

let bed: Bed;
before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

const always = async () => {};

/** Notes which runs are queued. */
class NotingQueues extends Queues {
  readonly queued: string[] = [];
  onQueued: () => Promise<unknown> = always;
  override of(name: string): Queue {
    const queue = super.of(name);
    const enqueue: Queue['enqueue'] = async (ticket, entry) => {
      this.queued.push(entry.run);
      await queue.enqueue(ticket, entry);
      await this.onQueued();
    };
    return Object.assign(Object.create(queue), { enqueue, missing: queue.missing.bind(queue) });
  }
}

/** Counts the results that are read. */
class NotingBuckets extends Buckets {
  readonly read: string[] = [];
  override get(bucket: string, key: string, options?: { signal?: AbortSignal }) {
    if (key.endsWith('/result.json')) this.read.push(key);
    return super.get(bucket, key, options);
  }
}

function sweeper(house: House, more: object = {}) {
  const queues = new NotingQueues({ url: bed.installation.redisUrl, installation: house.id });
  const open = new OpenRuns({ ...house.producer, queues, ...more }, new AbortController().signal);
  return { queues, open, [Symbol.asyncDispose]: () => queues[Symbol.asyncDispose]() };
}

async function orphan({ producer, tenant }: House, run = newRunId()): Promise<string> {
  const [spec, acceptedAt] = [sha256(''), new Date().toISOString()];
  await putOpenMarker(producer.store, { version: 1, run, tenant, spec, queue: echoQueue, priority: 5, acceptedAt });
  return run;
}

describe('while the notary is away', () => {
  test('a sweep queues open runs without a ticket, no finished one, and looks at each result once', async () => {
    await using house = await openHouse(bed);
    await house.worker('one');
    const { run } = await house.submit('print hello');
    await resultOf(house, run);
    await until('its ticket has left the queue', async () => {
      const missing = await house.producer.queues.of(echoQueue).missing([run]);
      return missing.length === 1;
    });
    const lost = await orphan(house);
    using store = new NotingBuckets({ ...bed.installation.store, record: house.store.record, work: house.store.work });
    await using sweeping = sweeper(house, { store });
    for (let pass = 0; pass < 3; pass++) await sweeping.open.sweepAll(always);
    assert.deepEqual(sweeping.queues.queued, [lost]);
    const key = recordKeys.result(house.tenant, RunId.parse(run));
    assert.equal(store.read.filter((one) => one === key).length, 1);
  });

  test('a sweep makes up for a done marker that the worker died before', async () => {
    await using house = await openHouse(bed);
    const worker = await house.worker('one');
    const { run } = await house.submit('print hello');
    await resultOf(house, run);
    await worker.stop();
    await house.store.delete(house.store.work, objects.done.key(house.tenant, run));
    await using sweeping = sweeper(house);
    await sweeping.open.sweepAll(always);
    assert.deepEqual(sweeping.queues.queued, []);
    assert.equal(await has(house.store, objects.done, house.tenant, run), true);
    await settled(house, [run]);
  });
});

test('a result that cannot be read is reported and holds up no other run', async () => {
  await using house = await openHouse(bed);
  const [bent, lost] = [await orphan(house), await orphan(house)];
  await house.store.put(house.store.record, recordKeys.result(house.tenant, RunId.parse(bent)), 'bent');
  await using sweeping = sweeper(house);
  await sweeping.open.sweepAll(always);
  assert.deepEqual(sweeping.queues.queued, [lost]);
});

describe('the lead of a long sweep', () => {
  const openLead = ({ producer }: House, me: string, now: () => number) =>
    new Lead(producer.live.leadership, { task: 'a-sweep', me, forMs: 9_000, now });

  test('is renewed when a third of it has passed, and not before', async () => {
    await using house = await openHouse(bed);
    let [clock, asked] = [0, 0];
    const { leadership } = house.producer.live;
    const counted = {
      lead: (task: string, who: string, forMs: number) => {
        asked++;
        return leadership.lead(task, who, forMs);
      },
      resign: leadership.resign.bind(leadership),
    };
    const lead = new Lead(counted, { task: 'a-sweep', me: 'one', forMs: 9_000, now: () => clock });
    assert.equal(await lead.take(), true);
    for (clock = 0; clock < 30_000; clock += 100) await lead.keep();
    assert.equal(asked, 1 + 9);
  });

  test('that another producer has taken ends the sweep between two steps', async () => {
    await using house = await openHouse(bed);
    const shard = '0';
    const runs = Array.from({ length: 60 }, () => RunId.parse(newRunId().replace(/.$/, shard)));
    await inLanes(16, runs, async (run) => void (await orphan(house, run)));
    let clock = 0;
    const lead = openLead(house, 'one', () => (clock += 3_000));
    assert.equal(await lead.take(), true);
    await using sweeping = sweeper(house);
    sweeping.queues.onQueued = async () => {
      await lead.resign();
      await openLead(house, 'another', () => 0).take();
    };
    await assert.rejects(
      sweeping.open.sweep(shard, Number.POSITIVE_INFINITY, () => lead.keep()),
      LeadLost,
    );
    assert.equal(sweeping.queues.queued.length, 16);
  });
});
