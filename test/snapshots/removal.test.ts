import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { putSnapshot, removeSnapshot, snapshotRecord, useSnapshot } from '@hotcell/record/snapshot-store.ts';
import { age } from '../support/aged.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { type House, openHouse } from '../support/house.ts';

let bed: Bed;
before(async () => {
  bed = await openBed();
});
after(() => bed[Symbol.asyncDispose]());

const by = 'key admin';

async function freeze({ store, tenant }: Pick<House, 'store' | 'tenant'>, text: string) {
  await store.put(store.record, recordKeys.cas(tenant, sha256(text)), text);
  const { snapshot } = await putSnapshot(store, tenant, [{ path: 'a', size: text.length, sha256: sha256(text) }]);
  return snapshot;
}

describe('a snapshot that is taken out of use', () => {
  test('stays out of use when a request for a run has read it just before and puts its record again', async () => {
    await using house = await openHouse(bed);
    const { store, tenant } = house;
    const id = await freeze(house, 'old');
    await age(bed, store.record, `snapshots/${tenant}`);
    const remove = () => removeSnapshot(store, tenant, id, by);
    using between = new BucketsBetween({ ...bed.installation.store, record: store.record, work: store.work }, remove);
    assert.equal(await useSnapshot(between, tenant, id), undefined);
    assert.ok(between.happened, 'the removal came between reading and writing');
    assert.equal(await snapshotRecord(store, tenant, id), undefined);
  });
});

/** Something happens between the first reading of a record and the first writing after it. */
class BucketsBetween extends Buckets {
  readonly #then: () => Promise<unknown>;
  happened = false;
  constructor(settings: ConstructorParameters<typeof Buckets>[0], then: () => Promise<unknown>) {
    super(settings);
    this.#then = then;
  }
  override async put(...[bucket, key, body, options]: Parameters<Buckets['put']>) {
    if (!this.happened) {
      this.happened = true;
      await this.#then();
    }
    return await super.put(bucket, key, body, options);
  }
}
