import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonical, sha256 } from '@hotcell/contract/digest.ts';
import { type Erasure, signErasure } from '@hotcell/contract/evidence/erasure.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { Result } from '@hotcell/contract/result.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { verifyRun } from '@hotcell/record/verify/verify-run.ts';
import { exportSigner, putExecuted } from '../../../support/exported-run.ts';
import { listKeys, Memory, root, verificationOf } from '../../../support/signed-record.ts';

/** A run that was executed, with all that it left, and an erasure that a root signed. */
async function made() {
  const record = new Memory();
  listKeys(record, exportSigner.listed);
  const at = await putExecuted(record);
  const result = Result.parse(JSON.parse(record.get(recordKeys.result(at.tenant, at.run))?.toString() ?? ''));
  const key = recordKeys.erasure(at.tenant, at.run);
  const erase = (by: SigningKey = root, more: Partial<Erasure> = {}) => {
    const evidence = result.evidence?.sha256 ?? assert.fail('no evidence');
    const said = { ...at, evidence, by: 'anna', reason: 'case 7', at: new Date().toISOString() };
    record.set(key, Buffer.from(canonical(signErasure(by, { version: 1, ...said, ...more }))));
  };
  const gone = [
    recordKeys.spec(at.tenant, at.run),
    ...[...record.keys()].filter((one) => one.includes(at.run) && one.endsWith('log.ndjson.zst')),
    ...result.outputs.files.map((file) => recordKeys.cas(at.tenant, file.sha256)),
    recordKeys.manifest(at.tenant, result.outputs.snapshot ?? assert.fail('no outputs')),
  ];
  const removed = (keys: readonly string[] = gone) => keys.forEach((one) => record.delete(one));
  const verdict = async () => {
    const said = await verifyRun(await verificationOf(record), at);
    return said ?? assert.fail('nothing is there');
  };
  return { record, at, result, key, erase, gone, removed, verdict };
}

const stranger = new SigningKey(SigningKey.generate());

/** What a writer of the record can leave in the place of an erasure. */
const planted: [plant: (scene: Awaited<ReturnType<typeof made>>) => unknown, problem: RegExp][] = [
  [({ erase }) => erase(stranger), /no trusted root signed it/],
  [({ erase }) => erase(exportSigner.signer.key), /no trusted root signed it/],
  [
    ({ erase, at }) => erase(root, { run: at.run.replace(/.$/, (last) => (last === '0' ? '1' : '0')) }),
    /it names the run t\//,
  ],
  [({ erase }) => erase(root, { evidence: sha256('other') }), /it names the evidence sha256:/],
  [({ erase }) => erase(root, { at: '2026-01-01T00:00:00.000Z' }), /before the run ended/],
  [({ record, key }) => record.set(key, Buffer.from('{}')), /payload/],
  [({ record, key }) => record.set(key, Buffer.from('not JSON')), /the erasure/],
];

describe('a run with an erasure that does not count', () => {
  test('is judged as if the erasure were not there, and the verdict names it with its reason', async () => {
    for (const [plant, problem] of planted) {
      const scene = await made();
      plant(scene);
      const { verdict, findings, erased, ignored } = await scene.verdict();
      assert.deepEqual([verdict, findings, erased], ['VALID', [], undefined]);
      assert.deepEqual(
        ignored?.map(({ object }) => object),
        [scene.key],
      );
      assert.match(ignored?.[0]?.problem ?? '', problem);
    }
  });
});

describe('a run that was erased', () => {
  test('is valid without its code, log and outputs, and the verdict says who erased it and why', async () => {
    const { erase, removed, verdict, result } = await made();
    assert.deepEqual((await verdict()).findings, []);
    erase();
    removed();
    const { verdict: said, findings, erased } = await verdict();
    assert.deepEqual([said, findings], ['VALID', []]);
    assert.deepEqual([erased?.by, erased?.reason, erased?.spec], ['anna', 'case 7', result.spec]);
  });

  test('is valid while a part of it is still there, and what is there has to match', async () => {
    const { record, erase, removed, gone, verdict } = await made();
    erase();
    removed(gone.slice(1));
    assert.equal((await verdict()).verdict, 'VALID');
    record.set(gone[1] ?? '', Buffer.from('another log'));
    assert.deepEqual([(await verdict()).verdict, (await verdict()).findings[0]?.object], ['MODIFIED', gone[1]]);
  });

  test('is still judged by its policy, from what its statement has of the spec', async () => {
    const { record, erase, removed, verdict, result } = await made();
    erase();
    removed();
    const policy = recordKeys.policy(result.policy?.digest ?? sha256(''));
    record.delete(policy);
    const [first] = (await verdict()).findings;
    assert.deepEqual([first?.verdict, first?.object], ['MISSING', policy]);
  });
});

describe('bytes that are gone', () => {
  test('are missing without an erasure, each of them', async () => {
    for (let i = 0; i < (await made()).gone.length; i++) {
      const { gone, removed, verdict } = await made();
      removed(gone.slice(i, i + 1));
      assert.deepEqual([(await verdict()).verdict, (await verdict()).findings[0]?.object], ['MISSING', gone[i]]);
    }
  });

  test('are missing with an erasure that does not count, which is named with its reason', async () => {
    for (const [plant, problem] of planted) {
      const scene = await made();
      plant(scene);
      scene.removed();
      const { verdict, findings, erased, ignored } = await scene.verdict();
      assert.deepEqual([verdict, findings[0]?.object, erased], ['MISSING', scene.gone[0], undefined]);
      assert.deepEqual(
        ignored?.map(({ object }) => object),
        [scene.key],
      );
      assert.match(ignored?.[0]?.problem ?? '', problem);
    }
  });

  test('that an erasure does not remove are missing all the same', async () => {
    const { record, erase, result, verdict } = await made();
    erase();
    const bundle = result.evidence?.bundle ?? '';
    record.delete(bundle);
    assert.deepEqual([(await verdict()).verdict, (await verdict()).findings[0]?.object], ['MISSING', bundle]);
  });
});
