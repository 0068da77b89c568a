import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Receipt } from '@hotcell/contract/evidence/receipt.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { findSpec, putSpec } from '@hotcell/record/run-spec.ts';
import { openBed } from '../support/bed.ts';
import { specFor } from '../support/spec.ts';

const bed = await openBed();
after(() => bed[Symbol.asyncDispose]());

/** Counts how many whole objects are read at the same time. */
class Watched extends Buckets {
  now = 0;
  most = 0;

  override async getWhole(bucket: string, key: string) {
    this.most = Math.max(this.most, ++this.now);
    return await super.getWhole(bucket, key).finally(() => this.now--);
  }
}

test('however many lanes meet large objects, one is read and parsed at a time', async () => {
  const tenant = bed.tenant();
  using store = new Watched(bed.installation.store);
  const acceptedAt = new Date().toISOString();
  const code = 'x'.repeat(2 * 2 ** 20);
  const receipt = { payload: '', payloadType: 't', signatures: [{ sig: 'AA==' }] } satisfies Receipt;
  const specs = Array.from({ length: 8 }, () => ({ ...specFor(tenant, code), run: newRunId(), acceptedAt }));
  await Promise.all(specs.map((spec) => putSpec(store, spec, () => receipt)));
  const found = await Promise.all(specs.map(({ run }) => findSpec(store, tenant, run)));
  assert.deepEqual(
    found.map((one) => one?.spec),
    specs,
  );
  assert.equal(store.most, 1);
});
