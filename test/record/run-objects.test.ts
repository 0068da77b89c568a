import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { attestedPart } from '@hotcell/contract/evidence/attested-result.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { newRunId, type RunId } from '@hotcell/contract/names.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { PutOptions } from '@hotcell/outside/store/store-put.ts';
import type { Queue } from '@hotcell/outside/queue/queue.ts';
import { Queues } from '@hotcell/outside/queue/queues.ts';
import { accept } from '@hotcell/producer/accept.ts';
import { KeyRing } from '@hotcell/producer/auth/keyring.ts';
import { newApiKey, putApiKey } from '@hotcell/record/api-keys.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { claimNext } from '@hotcell/record/claim.ts';
import { commit, type CommitDeps, followCommitted, readResult } from '@hotcell/record/commit.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { readDoneMarker } from '@hotcell/record/finished-runs.ts';
import { collectGarbage } from '@hotcell/record/gc/collect-garbage.ts';
import { closeLease, openLease } from '@hotcell/record/gc/freeze-lease.ts';
import { objects } from '@hotcell/record/objects.ts';
import { put } from '@hotcell/record/read-write.ts';
import { isOpen } from '@hotcell/record/run-marks.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoQueue } from '../support/echo.ts';
import { freezeTree } from '../support/freezing.ts';
import { type House, openHouse } from '../support/house.ts';
import { specFor } from '../support/spec.ts';

let bed: Bed;
let house: House;
let deps: CommitDeps;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  deps = { store: house.store, signer: house.producer.signer, live: house.producer.live, log: house.producer.log };
});
after(async () => {
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const sameBuckets = () => ({ ...bed.installation.store, record: house.store.record, work: house.store.work });

function resultFor(run: RunId, reason: string): Result {
  const of = { run, tenant: house.tenant, spec: null };
  return emptyResult(of, undefined, { outcome: 'rejected', reason }, new Date());
}

async function attestedOf(run: RunId) {
  const result = await readResult(house.store, house.tenant, run);
  return result && attestedPart(result);
}

test('two workers that claim a run at once have different attempts', async () => {
  const of = { tenant: house.tenant, run: newRunId() };
  const claimed = await Promise.all(['a', 'b'].map((worker) => claimNext(house.store, of, worker)));
  assert.deepEqual(
    claimed.map(({ claim }) => claim.attempt).toSorted((a, b) => a - b),
    [1, 2],
  );
});

describe('a commit', () => {
  test('keeps the first result, and says to its writer that it counts, also a second time', async () => {
    const run = newRunId();
    const [first, second] = [resultFor(run, 'first'), resultFor(run, 'second')];
    assert.equal(await commit(deps, first), true);
    assert.equal(await commit(deps, second), false);
    assert.equal(await commit(deps, first), true);
    assert.deepEqual(await attestedOf(run), first);
  });

  test('of several at once is exactly one', async () => {
    const run = newRunId();
    const results = Array.from({ length: 8 }, (_, i) => resultFor(run, `result ${i}`));
    const won = await Promise.all(results.map((result) => commit(deps, result)));
    assert.equal(won.filter(Boolean).length, 1);
    assert.deepEqual(await attestedOf(run), results[won.indexOf(true)]);
  });

  test('whose result cannot be put leaves no done marker', async () => {
    using store = new TakesNoResult(sameBuckets());
    const run = newRunId();
    await assert.rejects(commit({ ...deps, store }, resultFor(run, 'first')), { code: 'store_unavailable' });
    assert.equal(await readDoneMarker(house.store, { tenant: house.tenant, run }), undefined);
  });
});

class TakesNoResult extends Buckets {
  override put(bucket: string, key: string, body: Uint8Array | string, options?: PutOptions) {
    if (key.endsWith('/result.json')) throw new HotcellError('store_unavailable', 'no room for results');
    return super.put(bucket, key, body, options);
  }
}

test('a done marker counts for the notary only if it names the result that is there', async () => {
  await house.clearFinished();
  const { run } = await house.submit('print hello');
  const { tenant } = house;
  await commit(deps, resultFor(run, 'first'));
  const result = sha256('another result');
  await put(
    house.store,
    objects.done,
    { version: 1, run, tenant, result, finishedAt: '2026-01-01T00:00:00Z' },
    tenant,
    run,
  );
  assert.equal(await house.clearFinished(), 0);
  assert.equal(await isOpen(house.store, tenant, run), true);
  await followCommitted(deps, tenant, run);
  assert.equal(await house.clearFinished(), 1);
  assert.equal(await isOpen(house.store, tenant, run), false);
});

/** Looks, whenever a ticket is queued, whether its run is open. */
class LookingQueues extends Queues {
  readonly open: boolean[] = [];
  override of(name: string): Queue {
    const queue = super.of(name);
    const enqueue: Queue['enqueue'] = async (ticket, entry) => {
      this.open.push(await isOpen(house.store, entry.tenant, entry.run));
      await queue.enqueue(ticket, entry);
    };
    return Object.assign(Object.create(queue), { enqueue });
  }
}

test('an accepted run is open before its ticket is queued', async () => {
  await using queues = new LookingQueues({ url: bed.installation.redisUrl, installation: house.id });
  await accept({ ...house.producer, queues }, { spec: specFor(house.tenant, 'print hello'), queue: echoQueue });
  assert.deepEqual(queues.open, [true]);
});

/** Notes what is put, read and listed in the work bucket, by its first folder. */
class NotedOrder extends Buckets {
  readonly calls: string[] = [];
  #note(verb: string, bucket: string, key: string): void {
    if (bucket === this.work) this.calls.push(`${verb} ${key.split('/')[0]}`);
  }
  override put(bucket: string, key: string, body: Uint8Array | string, options?: PutOptions) {
    this.#note('put', bucket, key);
    return super.put(bucket, key, body, options);
  }
  override get(bucket: string, key: string, options?: { signal?: AbortSignal }) {
    this.#note('get', bucket, key);
    return super.get(bucket, key, options);
  }
  override list(bucket: string, prefix: string, options?: { after?: string; pageSize?: number }) {
    this.#note('list', bucket, prefix);
    return super.list(bucket, prefix, options);
  }
}

describe('of a freeze and a collection, at least one sees the other:', () => {
  test('a freeze puts its lease before it looks for a collector', async () => {
    using store = new NotedOrder(sameBuckets());
    const lease = await openLease(store, house.tenant);
    assert.deepEqual(store.calls, ['put freezing', 'get gc']);
    await closeLease(store, house.tenant, lease);
  });

  test('a collector puts its mark before it looks for leases', async () => {
    using store = new NotedOrder(sameBuckets());
    await freezeTree(house, house.tenant, { a: '1' });
    await collectGarbage(store, { dryRun: false, wait: () => Promise.resolve() });
    const [mark, look] = [store.calls.indexOf('put gc'), store.calls.indexOf('list freezing')];
    assert.ok(mark >= 0 && mark < look, store.calls.join(', '));
  });
});

test('a revoked API key is believed for less than two seconds', async () => {
  const ring = new KeyRing(house.store);
  const { key, record } = newApiKey({ tenant: house.tenant, role: 'reader', label: 'test' });
  await putApiKey(house.store, record);
  const recognise = (now: number) => ring.recognise(`Bearer ${key}`, now);
  assert.equal((await recognise(0)).id, record.id);
  await putApiKey(house.store, { ...record, revokedAt: '2026-01-01T00:00:00Z' });
  await assert.rejects(recognise(2_000), { code: 'unauthenticated' });
});
