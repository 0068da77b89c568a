import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { canonical, sha256 } from '@hotcell/contract/digest.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { type CollectOptions, collectGarbage } from '@hotcell/record/gc/collect-garbage.ts';
import { DigestFilter } from '@hotcell/record/gc/digest-filter.ts';
import { closeLease, openLease } from '@hotcell/record/gc/freeze-lease.ts';
import { isSweeping, Sweeping } from '@hotcell/record/gc/sweep-mark.ts';
import { recordKeys, workKeys } from '@hotcell/record/layout.ts';
import { keptHistory, pointsTo, publishName, readName } from '@hotcell/record/snapshot-name.ts';
import { putSnapshot } from '@hotcell/record/snapshot-store.ts';
import { verifySnapshot } from '@hotcell/producer/snapshots/verify-snapshot.ts';
import { age } from '../support/aged.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { contentsAs, freezeTree } from '../support/freezing.ts';
import { openHouse } from '../support/house.ts';

let bed: Bed;
before(async () => {
  bed = await openBed();
});
after(() => bed[Symbol.asyncDispose]());

const minute = 60_000;
const atOnce: CollectOptions = { dryRun: false, wait: () => Promise.resolve() };

describe('a collector', () => {
  test('that plans for longer than its mark holds removes nothing, and a fresh snapshot stays whole', async () => {
    await using house = await openHouse(bed);
    const { store, tenant } = house;
    const text = 'frozen before, unused since';
    await store.put(store.record, recordKeys.cas(tenant, sha256(text)), text);
    await age(bed, store.record, `cas/${tenant}`);
    let late = 0;
    let fresh: { snapshot: string } | undefined;
    // Between the plan and the removal eleven minutes pass, and a freeze relies on the content that is there.
    const clocks = [() => Date.now() + late];
    const freezeLater = async () => {
      late = 11 * minute;
      const lease = await openLease(house.producer.store, tenant, new Date(Date.now() + late));
      assert.equal(lease.trustsOld, true);
      const file = { path: 'a', size: text.length, sha256: sha256(text) };
      fresh = await putSnapshot(house.producer.store, tenant, [file]);
      await closeLease(house.producer.store, tenant, lease);
    };
    using slow = new WaitingBuckets({ ...bed.installation.store, record: store.record, work: store.work }, freezeLater);
    await assert.rejects(collectGarbage(slow, { ...atOnce, clocks }), {
      code: 'conflict',
      message: /could not say in time that it is still at work.*Collect again/,
    });
    assert.ok(fresh);
    await using contents = await contentsAs(house, 'producer');
    assert.deepEqual((await verifySnapshot({ store, contents }, tenant, sha256OfId(fresh.snapshot))).problems, []);
  });

  test('keeps its mark up while it works, and stops when another has put its own', async () => {
    await using house = await openHouse(bed);
    const { store } = house;
    let clock = 0;
    const sweeping = await Sweeping.begin(store, [() => clock]);
    const etagNow = async () => (await store.head(store.work, workKeys.sweeping))?.etag;
    const first = await store.getBytes(store.work, workKeys.sweeping);
    for (clock = 0; clock < 50_000; clock += 10_000) await sweeping.keep();
    assert.deepEqual(await store.getBytes(store.work, workKeys.sweeping), first);
    const before = await etagNow();
    // Many lanes ask at once, and one of them renews.
    for (; clock < 30 * minute; clock += minute) await Promise.all([sweeping.keep(), sweeping.keep(), sweeping.keep()]);
    assert.notEqual(await etagNow(), before);
    const another = { version: 1, at: '2026-01-01T00:00:00.000Z', until: '2026-01-01T00:10:00.000Z' };
    await store.put(store.work, workKeys.sweeping, canonical(another));
    clock += minute;
    await assert.rejects(sweeping.keep(), { code: 'conflict', message: /Another collector/ });
    await assert.rejects(sweeping.keep(), { code: 'conflict' });
    await sweeping.end();
    assert.ok(await etagNow(), 'the mark of the other collector stays');
  });

  test('leaves a tenant alone in which a freeze began while it planned', async () => {
    await using house = await openHouse(bed);
    const { store, tenant } = house;
    const frozen = await freezeTree(house, tenant, { a: 'garbage' });
    for (const prefix of [`cas/${tenant}`, `snapshots/${tenant}`]) await age(bed, store.record, prefix);
    using slow = new WaitingBuckets({ ...bed.installation.store, record: store.record, work: store.work }, async () => {
      await openLease(house.producer.store, tenant, new Date(Date.now() + 11 * minute));
    });
    const [report] = await collectGarbage(slow, atOnce);
    assert.match(report?.skipped ?? '', /a freeze is under way/);
    await using contents = await contentsAs(house, 'producer');
    assert.deepEqual((await verifySnapshot({ store, contents }, tenant, frozen.snapshot)).problems, []);
  });

  test('whose mark cannot be read counts as at work until the mark would have lapsed', async () => {
    await using house = await openHouse(bed);
    const { store } = house;
    await store.put(store.work, workKeys.sweeping, 'bent');
    assert.equal(await isSweeping(store, new Date(Date.now() + 9 * minute)), true);
    assert.equal(await isSweeping(store, new Date(Date.now() + 11 * minute)), false);
  });

  test('holds no list of all runs: it reads them as they are listed', async () => {
    await using house = await openHouse(bed);
    const { store, tenant } = house;
    await freezeTree(house, tenant, { a: '1' });
    const ending = { outcome: 'rejected', reason: 'r' } as const;
    await inLanes(16, Array.from({ length: 120 }, newRunId), async (run) => {
      const result = emptyResult({ run, tenant, spec: null }, undefined, ending, new Date());
      await store.put(store.record, recordKeys.result(tenant, run), canonical(result));
    });
    using watched = new WatchedBuckets({ ...bed.installation.store, record: store.record, work: store.work });
    await collectGarbage(watched, { dryRun: true });
    assert.equal(watched.read, 120);
    assert.ok(watched.ahead <= 60, `${watched.ahead} runs were listed and not read`);
  });
});

const sha256OfId = (id: string) => id as `sha256:${string}`;

/** Calls back when unfinished uploads are looked for: between the plans and the first removal. */
class WaitingBuckets extends Buckets {
  readonly #then: () => Promise<void>;
  constructor(settings: ConstructorParameters<typeof Buckets>[0], then: () => Promise<void>) {
    super(settings);
    this.#then = then;
  }
  override async halfUploads(bucket: string) {
    if (bucket === this.record) await this.#then();
    return super.halfUploads(bucket);
  }
}

/** By how much the listing of runs was ever ahead of the reading. */
class WatchedBuckets extends Buckets {
  read = 0;
  listed = 0;
  ahead = 0;
  override async *list(bucket: string, prefix: string, options?: { after?: string; pageSize?: number }) {
    for await (const key of super.list(bucket, prefix, options)) {
      if (prefix.startsWith('runs/')) this.ahead = Math.max(this.ahead, ++this.listed - this.read);
      yield key;
    }
  }
  override get(bucket: string, key: string, options?: { signal?: AbortSignal }) {
    if (key.endsWith('/result.json')) this.read++;
    return super.get(bucket, key, options);
  }
}

test('a filter of digests denies nothing that was added, and claims little that was not', () => {
  const filter = new DigestFilter();
  for (let i = 0; i < 100_000; i++) filter.add(`added ${i}`);
  let [missing, claimed] = [0, 0];
  for (let i = 0; i < 100_000; i++) {
    if (!filter.has(`added ${i}`)) missing++;
    if (filter.has(`other ${i}`)) claimed++;
  }
  assert.equal(missing, 0);
  assert.ok(claimed < 100, `${claimed} of 100,000`);
});

describe('the history of a name', () => {
  test('keeps its newest hundred entries; a publication from before them changes nothing', async () => {
    await using house = await openHouse(bed);
    const { store, tenant } = house;
    const at = (i: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, i));
    for (let i = 0; i <= keptHistory; i++) await publishName(store, tenant, 'daily', sha256(`${i}`), `run ${i}`, at(i));
    const name = await readName(store, tenant, 'daily');
    assert.ok(name);
    assert.equal(name.history.length, keptHistory);
    assert.equal(pointsTo(name), sha256(`${keptHistory}`));
    const versions = () => Array.fromAsync(store.listVersions(store.record, recordKeys.name(tenant, 'daily')));
    const count = (await versions()).length;
    for (const i of [0, keptHistory]) await publishName(store, tenant, 'daily', sha256(`${i}`), `run ${i}`, at(i));
    assert.equal((await versions()).length, count);
  });

  test('has one version left after a collection, and so have snapshots that were put again', async () => {
    await using house = await openHouse(bed);
    const { store, tenant } = house;
    const kept = await freezeTree(house, tenant, { a: 'kept' });
    for (const i of [1, 2, 3]) await publishName(store, tenant, 'daily', kept.snapshot, `run ${i}`);
    const record = recordKeys.snapshotRecord(tenant, kept.snapshot);
    const content = recordKeys.cas(tenant, sha256('kept'));
    for (const key of [record, content])
      await store.put(store.record, key, (await store.getBytes(store.record, key)) ?? '');
    const keys = [recordKeys.name(tenant, 'daily'), content];
    const young = await collectGarbage(store, atOnce);
    assert.deepEqual(
      young.map(({ superseded }) => superseded),
      [0],
    );
    const [report] = await collectGarbage(store, { ...atOnce, graceMs: -minute });
    assert.equal(report?.superseded, 4);
    for (const key of keys) assert.equal((await Array.fromAsync(store.listVersions(store.record, key))).length, 1, key);
    await using contents = await contentsAs(house, 'producer');
    assert.deepEqual((await verifySnapshot({ store, contents }, tenant, kept.snapshot)).problems, []);
    assert.equal((await readName(store, tenant, 'daily'))?.history.length, 3);
  });
});
