import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Hotcell } from '@hotcell/client/index.ts';
import { signErasure } from '@hotcell/contract/evidence/erasure.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { eraseRun } from '@hotcell/record/erase-run.ts';
import { collectGarbage } from '@hotcell/record/gc/collect-garbage.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { StoreReader } from '@hotcell/record/verify/store-reader.ts';
import { putKeyList, storedKeyList } from '@hotcell/record/stored-key-list.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { SeenObjects } from '@hotcell/record/verify/verification.ts';
import { verifyRun } from '@hotcell/record/verify/verify-run.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, startProducer } from '../support/producer.ts';
import { keysOf, resultOf, settled } from '../support/promise.ts';
import { verdictsOf } from '../support/verified.ts';

let bed: Bed;
let house: House;
let producer: RunningProducer;
let client: Hotcell;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  await house.worker('one');
  producer = await startProducer(bed, house);
  client = await producer.client('submitter');
});
after(async () => {
  await producer[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

async function ran(code: string): Promise<Result> {
  const { run } = await house.submit(code);
  const result = await resultOf(house, run);
  assert.equal(result.outcome, 'succeeded', result.reason);
  await settled(house, [run]);
  return result;
}

const trusted = () => trustedKeys(new StoreReader(house.store), [house.signing.root.public]);

const erase = async (run: string, by = 'anna', root = house.signing.root) => {
  const deps = { store: house.store, root, trusted: await trusted() };
  return await eraseRun(deps, { tenant: house.tenant, run, by, reason: 'case 7' });
};

/** What a service that was taken over would leave, if the store let it. */
async function plant({ run, tenant, evidence }: Result): Promise<void> {
  const sha256 = evidence?.sha256 ?? assert.fail('no evidence');
  const at = new Date().toISOString();
  const said = { version: 1, run, tenant, evidence: sha256, by: 'eve', reason: 'none', at } as const;
  const stranger = new SigningKey(SigningKey.generate());
  const { store } = house;
  await store.put(store.record, recordKeys.erasure(tenant, run), JSON.stringify(signErasure(stranger, said)));
}

/** As `erase` does at its end, without waiting for runs that begin meanwhile: there are none. */
const collect = async () => {
  const { erasers } = await trusted();
  const at = { dryRun: false, tenant: house.tenant, graceMs: -60_000 };
  await collectGarbage(house.store, { ...at, erasers, wait: () => Promise.resolve() });
};

const left = () => keysOf(house.store, house.store.record);
const contents = (result: Result) => result.outputs.files.map(({ sha256 }) => recordKeys.cas(house.tenant, sha256));

describe('a run that an operator erased', () => {
  test('has no code, log or outputs any more, but for those that another run needs', async () => {
    const [own, shared, other] = [await ran('output own'), await ran('output shared'), await ran('output shared')];
    for (const { run } of [own, shared]) await erase(run);
    await collect();
    const keys = await left();
    assert.deepEqual(
      [own, shared, other].map((result) => contents(result).every((key) => keys.includes(key))),
      [false, true, true],
    );
    const under = recordKeys.run(house.tenant, own.run);
    const names = keys.filter((key) => key.startsWith(under)).map((key) => key.split('/').at(-1));
    assert.deepEqual(names, ['evidence.sigstore.json', 'erasure.json', 'result.json']);
  });

  test('says so in one sentence to those who ask for what is gone', async () => {
    const { run } = await ran('print secret\noutput a secret');
    await erase(run);
    await collect();
    const message = new RegExp(`^Run ${run} was erased at \\S+ by anna \\(case 7\\): .* their digests are kept\\.$`);
    const of = client.runById(run);
    for (const asked of [() => of.spec(), () => Array.fromAsync(of.logs()), () => of.output('out.txt')])
      await assert.rejects(asked, { code: 'erased', message });
    // Its result, with every digest, is there as before.
    assert.equal((await of.result()).outputs.files[0]?.path, 'out.txt');
  });

  test('is erased to the end by the next one where an eraser died, and the first reason stays', async () => {
    const { run } = await ran('print 1');
    const { at } = await erase(run);
    const second = await erase(run, 'bert');
    assert.deepEqual([second.at, second.by], [at, 'anna']);
  });
});

describe('a collector', () => {
  test('keeps the outputs of a run whose erasure no trusted root signed, and those of one that has a folder of that name', async () => {
    const [forged, folder] = [await ran('output forged'), await ran('output folder')];
    const { store, tenant } = house;
    await plant(forged);
    await store.put(store.record, `${recordKeys.erasure(tenant, folder.run)}/results/0`, 'put by a worker');
    await collect();
    const keys = await left();
    for (const result of [forged, folder])
      assert.ok(
        contents(result).every((one) => keys.includes(one)),
        result.run,
      );
  });
});

describe('an erasure', () => {
  test('is for the operator alone: no service may put it, or remove from the record', async () => {
    const { run, tenant } = await ran('print 2');
    const { store } = house.producer;
    const put = store.put(store.record, recordKeys.erasure(tenant, run), '{}');
    await assert.rejects(put, { code: 'forbidden' });
    await assert.rejects(store.delete(store.record, recordKeys.spec(tenant, run)), { code: 'forbidden' });
  });

  test('is refused by a key that is not the installation’s root, and nothing is removed', async () => {
    const { run, tenant } = await ran('print 4');
    const stranger = new SigningKey(SigningKey.generate());
    await assert.rejects(erase(run, 'anna', stranger), { code: 'invalid', message: /is not the root of this inst/ });
    const keys = await left();
    assert.deepEqual(
      [recordKeys.spec(tenant, run), recordKeys.erasure(tenant, run)].map((key) => keys.includes(key)),
      [true, false],
    );
  });

  test('is refused of a run that does not verify, and nothing is removed', async () => {
    const { run, tenant } = await ran('print 5');
    const spec = recordKeys.spec(tenant, run);
    await house.store.put(house.store.record, spec, '{}');
    await assert.rejects(erase(run), { code: 'conflict', message: /MODIFIED .*spec\.json.* Nothing was removed/ });
    const keys = await left();
    assert.deepEqual(
      [spec, recordKeys.erasure(tenant, run)].map((key) => keys.includes(key)),
      [true, false],
    );
  });

  test('takes the place of one that a stranger planted, and the run is valid with it alone', async () => {
    const result = await ran('print 6');
    await plant(result);
    await erase(result.run);
    const verdict = (await verdictsOf(house)).get(result.run);
    assert.deepEqual([verdict?.verdict, verdict?.erased?.by, verdict?.ignored], ['VALID', 'anna', undefined]);
  });

  test('is refused, and not recorded, before the retention of the run’s policy ends', async () => {
    const { run, tenant } = await ran('print 3');
    const lock = { mode: 'GOVERNANCE', until: new Date(Date.now() + 3_600_000) } as const;
    await house.store.extendLock(house.store.record, recordKeys.spec(tenant, run), lock);
    const message = new RegExp(`is kept until ${lock.until.toISOString().slice(0, 16)}.* Erase it after that`);
    await assert.rejects(erase(run), { code: 'forbidden', message });
    assert.equal((await left()).includes(recordKeys.erasure(tenant, run)), false);
  });
});

describe('after another root took the place of the one that signed it, an erasure', () => {
  test('still counts, for those who trust the new root alone', async () => {
    const { run, tenant } = await ran('print 7');
    await erase(run);
    const { store, signing } = house;
    const before = (await storedKeyList(store, [signing.root.public])) ?? assert.fail('no list');
    const next = new SigningKey(SigningKey.generate());
    const issuedAt = new Date().toISOString();
    await putKeyList(store, next, { ...before.list, number: before.list.number + 1, issuedAt }, before);
    const reader = new StoreReader(store);
    const { keys, erasers } = await trustedKeys(reader, [next.public]);
    const of = { reader, keys, erasers, contents: true, now: new Date(), seen: new SeenObjects() };
    const verdict = await verifyRun(of, { tenant, run });
    assert.deepEqual([verdict?.verdict, verdict?.erased?.by], ['VALID', 'anna']);
  });
});
