import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { signReceipt } from '@hotcell/contract/evidence/receipt.ts';
import { newRunId, RunId } from '@hotcell/contract/names.ts';
import { OpenRuns } from '@hotcell/producer/queue-again.ts';
import { compareShard } from '@hotcell/producer/readmodel/compare-shard.ts';
import { ReadModel } from '@hotcell/producer/readmodel/read-model.ts';
import { rowAccepted } from '@hotcell/producer/readmodel/run-changes.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { putOpenMarker } from '@hotcell/record/run-marks.ts';
import { putSpec } from '@hotcell/record/run-spec.ts';
import { z } from 'zod';
import { type Bed, openBed } from '../support/bed.ts';
import { echoQueue } from '../support/echo.ts';
import { type House, openHouse } from '../support/house.ts';
import { openHttpProxy } from '../support/http-proxy.ts';
import { startProducer } from '../support/producer.ts';
import { putRefusal } from '../support/refusals.ts';
import { specFor } from '../support/spec.ts';
import { until } from '../support/until.ts';

let bed: Bed;
before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

const Page = z.object({ runs: z.array(z.looseObject({ run: z.string() })), incomplete: z.string().optional() });

test('a record that the store does not give up keeps its own tenant’s lists behind, and those of no other', async () => {
  await using proxy = await openHttpProxy(bed.installation.store.endpoint);
  await using house = await openHouse(bed, { endpoint: proxy.url });
  const others = ['b', 'c'].map((letter) => `${letter}-${house.tenant}`);
  const failing = `a-${house.tenant}`;
  const expected = new Map<string, string[]>();
  for (const tenant of [failing, ...others]) {
    const runs = [2, 1, 0].map((daysAgo) => putRefusal(house, daysAgo, tenant));
    expected.set(tenant, (await Promise.all(runs)).toSorted().toReversed());
  }
  const [newest = ''] = expected.get(failing) ?? [];
  let met = 0;
  proxy.fault = ({ method, path }) => {
    if (method !== 'GET' || !path.includes(newest)) return undefined;
    met++;
    return { kind: 'status', status: 403 };
  };
  await using producer = await startProducer(bed, house);
  const complete = async (tenant: string) => {
    const key = await producer.key('reader', tenant);
    await until(`the list of ${tenant} has all`, async (note) => {
      const { runs, incomplete } = note(
        Page.parse(await (await producer.ask('GET', '/v1/runs?limit=500', { key })).json()),
      );
      return incomplete === undefined && runs.map(({ run }) => run).join() === expected.get(tenant)?.join();
    });
  };
  await until('the record is asked for', async () => met > 0);
  for (const tenant of others) await complete(tenant);
  assert.equal(producer.child.said().includes(failing), true, 'the log names the tenant');
  proxy.fault = () => undefined;
  await complete(failing);
});

/** In one shard, so that they are compared or recovered together. */
const idIn = (shard: string) => RunId.parse(newRunId().replace(/.$/, shard));

const shard = '7';

async function openModel() {
  const file = join(await bed.folder('model'), 'runs.sqlite');
  return await ReadModel.open(file, (error) => assert.fail(String(error)));
}

/** The model believes that these are open; they have no object. */
function believe(model: ReadModel, tenant: string, count: number): void {
  for (let i = 0; i < count; i++) {
    const spec = { ...specFor(tenant, ''), run: idIn(shard), acceptedAt: new Date().toISOString() };
    model.note(rowAccepted(spec, echoQueue));
  }
}

/** Accepted by a producer that this test does not have, and that could not queue it. */
async function accept({ store, producer }: House, tenant: string): Promise<RunId> {
  const [run, acceptedAt] = [idIn(shard), new Date().toISOString()];
  const spec = { ...specFor(tenant, 'print a'), run, acceptedAt };
  const promise = (_: unknown, digest: string) =>
    signReceipt(producer.signer.key, { installation: producer.installation, run, tenant, spec: digest, acceptedAt });
  const { digest } = await putSpec(store, spec, promise);
  await putOpenMarker(store, { version: 1, run, tenant, spec: digest, queue: echoQueue, priority: 5, acceptedAt });
  return run;
}

const listed = async (model: ReadModel, tenant: string) =>
  (await model.list(tenant, { labels: [], limit: 1_000 })).map(({ run }) => run);

/** Calls back before the first object of such a name is asked for. */
class WatchedBuckets extends Buckets {
  readonly onAsked: (key: string) => Promise<void>;
  constructor(house: House, onAsked: (key: string) => Promise<void>) {
    super({ ...bed.installation.store, record: house.store.record, work: house.store.work });
    this.onAsked = onAsked;
  }
  override async head(bucket: string, key: string) {
    await this.onAsked(key);
    return await super.head(bucket, key);
  }
  override async get(bucket: string, key: string, options?: { signal?: AbortSignal }) {
    await this.onAsked(key);
    return await super.get(bucket, key, options);
  }
}

test('a run that is accepted while a long shard is compared stays in the lists', async () => {
  await using house = await openHouse(bed);
  await using model = await openModel();
  // More than the model tells at once: what comes after them is read when the markers have been listed.
  believe(model, 'aaa', 250);
  let accepting: Promise<RunId> | undefined;
  const tenant = `z-${house.tenant}`;
  const acceptAndNote = async () => {
    const run = await accept(house, tenant);
    model.note(rowAccepted({ ...specFor(tenant, ''), run, acceptedAt: new Date().toISOString() }, echoQueue));
    return run;
  };
  using store = new WatchedBuckets(house, async (key) => {
    if (key.includes('aaa')) await (accepting ??= acceptAndNote());
  });
  const { signal } = new AbortController();
  await compareShard({ ...house.producer, store, model, signal }, shard);
  assert.deepEqual(await listed(model, 'aaa'), []);
  assert.deepEqual(await listed(model, tenant), [await accepting]);
});

const refuse = (part: string) => async (key: string) => {
  if (key.includes(part)) throw new Error('the store does not give this up');
};

test('runs that the store does not give up hold up the comparison and the recovery of no other', async () => {
  await using house = await openHouse(bed);
  await using model = await openModel();
  // Both have runs in the same shard, and those of the failing one come first, more than are looked at together.
  const failing = `a-${house.tenant}`;
  const healthy = `b-${house.tenant}`;
  for (let i = 0; i < 40; i++) await accept(house, failing);
  const run = await accept(house, healthy);
  using store = new WatchedBuckets(house, refuse(failing));
  const { signal } = new AbortController();
  await assert.rejects(compareShard({ ...house.producer, store, model, signal }, shard), /does not give this up/);
  assert.deepEqual(await listed(model, healthy), [run]);
  const open = new OpenRuns({ ...house.producer, store }, signal);
  await assert.rejects(
    open.sweep(shard, Number.POSITIVE_INFINITY, async () => {}),
    /does not give this up/,
  );
  assert.deepEqual(await house.producer.queues.of(echoQueue).missing([run]), []);
});
