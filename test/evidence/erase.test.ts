import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Hotcell } from '@hotcell/client/index.ts';
import { signErasure } from '@hotcell/contract/evidence/erasure.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { eraseRun } from '@hotcell/record/erase-run.ts';
import { collectGarbage } from '@hotcell/record/gc/collect-garbage.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, startProducer } from '../support/producer.ts';
import { keysOf, resultOf, settled } from '../support/promise.ts';

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

const erase = (run: string, by = 'anna') =>
  eraseRun(house.store, house.signing.root, { tenant: house.tenant, run, by, reason: 'case 7' });

/** As `erase` does at its end, without waiting for runs that begin meanwhile: there are none. */
const collect = () =>
  collectGarbage(house.store, {
    ...{
      dryRun: false,
      tenant: house.tenant,
      roots: [house.signing.root.public],
      graceMs: -60_000,
      wait: () => Promise.resolve(),
    },
  });

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
    const said = {
      version: 1,
      run: forged.run,
      tenant,
      by: 'eve',
      reason: 'none',
      at: new Date().toISOString(),
    } as const;
    const evidence = forged.evidence?.sha256 ?? assert.fail('no evidence');
    const stranger = new SigningKey(SigningKey.generate());
    const key = recordKeys.erasure(tenant, forged.run);
    await store.put(store.record, key, JSON.stringify(signErasure(stranger, { ...said, evidence })));
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

  test('is refused, and not recorded, before the retention of the run’s policy ends', async () => {
    const { run, tenant } = await ran('print 3');
    const lock = { mode: 'GOVERNANCE', until: new Date(Date.now() + 3_600_000) } as const;
    await house.store.extendLock(house.store.record, recordKeys.spec(tenant, run), lock);
    const message = new RegExp(`is kept until ${lock.until.toISOString().slice(0, 16)}.* Erase it after that`);
    await assert.rejects(erase(run), { code: 'forbidden', message });
    assert.equal((await left()).includes(recordKeys.erasure(tenant, run)), false);
  });
});
