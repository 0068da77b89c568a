import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Hotcell } from '@hotcell/client/index.ts';
import { signErasure } from '@hotcell/contract/evidence/erasure.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { eraseRun } from '@hotcell/record/erase-run.ts';
import { freezeOutputs } from '@hotcell/producer/freeze/freeze-outputs.ts';
import { collectGarbage } from '@hotcell/record/gc/collect-garbage.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { StoreReader } from '@hotcell/record/verify/store-reader.ts';
import { putKeyList, storedKeyList } from '@hotcell/record/stored-key-list.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { verificationBy } from '@hotcell/record/verify/verification.ts';
import { verifyRun } from '@hotcell/record/verify/verify-run.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { crashAt, fallen } from '../faults/falling.ts';
import { type Child, spawnNode } from '../support/child.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { keysOf, resultOf } from '../support/promise.ts';
import { spawnWorker } from '../support/real-worker.ts';
import { verdictsOf } from '../support/verified.ts';

let bed: Bed;
let house: House;
let producer: RunningProducer;
let client: Hotcell;
let worker: Child;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  client = await producer.client('submitter');
  worker = await spawnWorker(bed, house, 'one');
});
after(async () => {
  await settle(house, producer);
  await worker.stop();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

/** In a sealed cell, as in production: a run that only looks like one does not verify, and is not erased. */
async function ran(code: string): Promise<Result> {
  const { id: run } = await client.submit({ blocks: [{ language: 'bash', code }] });
  const result = await resultOf(house, run);
  assert.equal(result.outcome, 'succeeded', result.reason);
  return result;
}

const output = (text: string) => `printf '${text}' > /outputs/out.txt`;

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
    const [own, shared, other] = [await ran(output('own')), await ran(output('shared')), await ran(output('shared'))];
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
    const { run } = await ran(`echo secret\n${output('a secret')}`);
    await erase(run);
    await collect();
    const message = new RegExp(`^Run ${run} was erased at \\S+ by anna \\(case 7\\): .* their digests are kept\\.$`);
    const of = client.runById(run);
    for (const asked of [() => of.spec(), () => Array.fromAsync(of.logs()), () => of.output('out.txt')])
      await assert.rejects(asked, { code: 'erased', message });
    // Its result, with every digest, is there as before.
    assert.equal((await of.result()).outputs.files[0]?.path, 'out.txt');
  });

  test('hands nothing on from the erasure on, while all of it still lies there', async () => {
    const result = await ran(`echo secret; ${output('a secret of its own')}`);
    const { run, tenant } = result;
    await plant(result);
    const of = client.runById(run);
    const readers = {
      spec: () => of.spec(),
      logs: () => Array.fromAsync(of.logs()),
      outputs: () => of.outputs(),
      output: () => of.output('out.txt'),
      rerun: () => of.rerun(),
      freeze: () => freezeOutputs(house.store, tenant, run),
    };
    for (const [name, asked] of Object.entries(readers))
      await assert.rejects(asked, { code: 'erased', message: /^Run \S+ was erased at \S+ by eve \(none\)/ }, name);
    const streams = await producer.ask('GET', `/v1/runs/${run}?include=stdout`);
    assert.deepEqual([streams.status, ((await streams.json()) as { code?: string }).code], [410, 'erased']);
    const input = client.submit({ blocks: [{ language: 'bash', code: 'true' }], inputs: { data: `${run}:outputs` } });
    await assert.rejects(input, /was erased at/);
    // Nothing was removed: what refuses them is the erasure alone.
    assert.equal((await left()).includes(recordKeys.spec(tenant, run)), true);
  });

  test('keeps the name and the reason of the first erasure when it is erased again', async () => {
    const { run } = await ran('echo 1');
    const { at } = await erase(run);
    const second = await erase(run, 'bert');
    assert.deepEqual([second.at, second.by], [at, 'anna']);
  });
});

describe('a collector', () => {
  test('keeps the outputs of a run whose erasure no trusted root signed, and those of one that has a folder of that name', async () => {
    const [forged, folder] = [await ran(output('forged')), await ran(output('folder'))];
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
    const { run, tenant } = await ran('echo 2');
    const { store } = house.producer;
    const put = store.put(store.record, recordKeys.erasure(tenant, run), '{}');
    await assert.rejects(put, { code: 'forbidden' });
    await assert.rejects(store.delete(store.record, recordKeys.spec(tenant, run)), { code: 'forbidden' });
  });

  test('is refused by a key that is not the installation’s root, and nothing is removed', async () => {
    const { run, tenant } = await ran('echo 4');
    const stranger = new SigningKey(SigningKey.generate());
    await assert.rejects(erase(run, 'anna', stranger), { code: 'invalid', message: /is not the root of this inst/ });
    const keys = await left();
    assert.deepEqual(
      [recordKeys.spec(tenant, run), recordKeys.erasure(tenant, run)].map((key) => keys.includes(key)),
      [true, false],
    );
  });

  test('is refused of a run that does not verify, and nothing is removed', async () => {
    const { run, tenant } = await ran('echo 5');
    const spec = recordKeys.spec(tenant, run);
    await house.store.put(house.store.record, spec, '{}');
    await assert.rejects(erase(run), { code: 'conflict', message: /MODIFIED .*spec\.json.* Nothing was removed/ });
    const keys = await left();
    assert.deepEqual(
      [spec, recordKeys.erasure(tenant, run)].map((key) => keys.includes(key)),
      [true, false],
    );
  });

  for (const point of ['erase.recorded', 'erase.removed'])
    test(`whose process is killed at ${point} is finished by the next one, and keeps its name and reason`, async () => {
      const { run, tenant } = await ran(`echo ${point}`);
      const { store } = house;
      await using victim = spawnNode('test/faults/victims/erase.ts', {
        STORE: JSON.stringify({ ...bed.installation.store, record: store.record, work: store.work }),
        ROOT: house.signing.rootPem,
        ASKED: JSON.stringify({ tenant, run, by: 'berta', reason: 'case 8' }),
        ...crashAt(point, 'kill'),
      });
      await fallen(victim, point, 'kill');
      const spec = recordKeys.spec(tenant, run);
      assert.ok((await left()).includes(spec), 'the spec goes last');
      const { by, reason } = await erase(run);
      assert.deepEqual([by, reason], ['berta', 'case 8']);
      const names = (await left()).filter((key) => key.startsWith(recordKeys.run(tenant, run)));
      assert.deepEqual(
        names.map((key) => key.split('/').at(-1)),
        ['evidence.sigstore.json', 'erasure.json', 'result.json'],
      );
      assert.equal((await verdictsOf(house)).get(run)?.verdict, 'VALID');
    });

  test('takes the place of one that a stranger planted, and the run is valid with it alone', async () => {
    const result = await ran('echo 6');
    await plant(result);
    await erase(result.run);
    const verdict = (await verdictsOf(house)).get(result.run);
    assert.deepEqual([verdict?.verdict, verdict?.erased?.by, verdict?.ignored], ['VALID', 'anna', undefined]);
  });

  test('is refused, and not recorded, before the retention of the run’s policy ends', async () => {
    const { run, tenant } = await ran('echo 3');
    const lock = { mode: 'GOVERNANCE', until: new Date(Date.now() + 3_600_000) } as const;
    await house.store.extendLock(house.store.record, recordKeys.spec(tenant, run), lock);
    const message = new RegExp(`is kept until ${lock.until.toISOString().slice(0, 16)}.* Erase it after that`);
    await assert.rejects(erase(run), { code: 'forbidden', message });
    assert.equal((await left()).includes(recordKeys.erasure(tenant, run)), false);
  });
});

describe('a session that an operator erased', () => {
  /** As one does who can write to the store's disk: there is one version, and it is another one. */
  async function rewrite(key: string, bytes: Uint8Array): Promise<void> {
    const { store } = house;
    await store.deleteVersions(store.record, await Array.fromAsync(store.listVersions(store.record, key)));
    await store.put(store.record, key, bytes);
  }

  test('has nothing of its steps any more but their digests, by which it is still valid', async () => {
    const session = await client.session({ policy: 'sealed' });
    const run = session.id;
    for (const code of ['echo secret', 'seq 1 20000']) {
      const step = await session.run(code, { language: 'bash' });
      assert.equal(step.outcome, 'succeeded', step.reason);
    }
    assert.equal((await session.finish()).steps?.length, 2);
    const { store, tenant } = house;
    const under = recordKeys.run(tenant, run);
    const ofRun = async () => (await left()).filter((key) => key.startsWith(under));
    const log = (await ofRun()).find((key) => key.endsWith('results/1/log')) ?? assert.fail('a log of its own');
    const bytes = (await store.getBytes(store.record, log)) ?? assert.fail();
    await rewrite(log, Buffer.from('another log'));
    await assert.rejects(erase(run), { code: 'conflict', message: /MODIFIED .*results\/1\/log/ });
    await rewrite(log, bytes);
    await erase(run);
    const names = (await ofRun()).map((key) => key.slice(under.length).replace(/^[^/]+\//, '')).toSorted();
    assert.deepEqual(names, ['erasure.json', 'evidence.sigstore.json', 'result.json', 'session.json']);
    const verdict = (await verdictsOf(house)).get(run);
    assert.deepEqual([verdict?.verdict, verdict?.findings, verdict?.erased?.by], ['VALID', [], 'anna']);
    for (const asked of [
      () => session.stepEnd(0),
      () => Array.fromAsync(session.stepLog(0)),
      () => session.shown(0, 0),
    ])
      await assert.rejects(asked, { code: 'erased' });
  });
});

describe('after another root took the place of the one that signed it, an erasure', () => {
  test('still counts, for those who trust the new root alone', async () => {
    const { run, tenant } = await ran('echo 7');
    await erase(run);
    const { store, signing } = house;
    const before = (await storedKeyList(store, [signing.root.public])) ?? assert.fail('no list');
    const next = new SigningKey(SigningKey.generate());
    const issuedAt = new Date().toISOString();
    await putKeyList(store, next, { ...before.list, number: before.list.number + 1, issuedAt }, before);
    const reader = new StoreReader(store);
    const trusted = await trustedKeys(reader, [next.public]);
    const verdict = await verifyRun(verificationBy(reader, trusted), { tenant, run });
    assert.deepEqual([verdict?.verdict, verdict?.erased?.by], ['VALID', 'anna']);
  });
});
