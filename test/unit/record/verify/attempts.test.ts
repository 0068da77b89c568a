import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonical, sha256 } from '@hotcell/contract/digest.ts';
import { readBundle } from '@hotcell/contract/evidence/evidence-bundle.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { signAttempt } from '@hotcell/record/record-attempt.ts';
import type { AttemptRecord } from '@hotcell/record/schemas.ts';
import { bentForms, twinOf } from '../../../support/other-signature.ts';
import { listKeys, Memory, putSigned, signerOf, verdictIn } from '../../../support/signed-record.ts';

const tenant = 't';
const [one, two, producer] = [signerOf('worker', 'one'), signerOf('worker', 'two'), signerOf('producer', 'producer')];
const stranger = signerOf('worker', 'one');

/** A run that was cancelled after its first attempt failed for the platform, as it stands in the record. */
async function made() {
  const record = new Memory();
  listKeys(record, one.listed, two.listed, producer.listed);
  const run = newRunId();
  const startedAt = new Date().toISOString();
  const ended: AttemptRecord = {
    ...({ version: 1, run, attempt: 1, worker: 'one', startedAt, finishedAt: startedAt } as const),
    ...{ error: { code: 'cell_failed', message: 'the cell died' }, handedBack: false },
  };
  const claim = crypto.randomUUID();
  const place = { attempt: 1, claim };
  const [at, bundle] = [recordKeys.attemptRecord(tenant, run, place), recordKeys.attemptEvidence(tenant, run, place)];
  const sign = (by: typeof one, changed: AttemptRecord = ended) => {
    const of = { tenant, spec: sha256('spec'), claim, retention: undefined };
    const signed = signAttempt(by.signer, of, changed);
    record.set(bundle, Buffer.from(signed.bundle.text));
    const evidence = { bundle, sha256: signed.bundle.digest };
    record.set(at, Buffer.from(canonical({ ...changed, evidence })));
    return evidence.sha256;
  };
  const evidence = sign(one);
  const base = emptyResult(
    { run, tenant, spec: sha256('spec') },
    undefined,
    { outcome: 'cancelled', reason: 'c' },
    new Date(),
  );
  const { error, attempt, worker, finishedAt } = ended;
  const result = { ...base, attempts: [{ attempt, worker, claim, startedAt, finishedAt, error, evidence }] };
  const put = await putSigned(record, producer.signer, result);
  record.set(recordKeys.spec(tenant, run), Buffer.from('spec'));
  return { record, run, at, bundle, ended, sign, result, put };
}
type Made = Awaited<ReturnType<typeof made>>;

/** The spec of this record is none: what it says of attempts is what counts here. */
const ofAttempts = async ({ record, run }: Pick<Made, 'record' | 'run'>) => {
  const said = await verdictIn(record, { tenant, run });
  return { ...said, findings: said.findings.filter(({ object }) => !object.includes('spec.json')) };
};

const edits: Readonly<Record<string, [edit: (made: Made) => unknown, verdict: string, object: 'at' | 'bundle']>> = {
  'says another error': [
    ({ record, at }) => record.set(at, Buffer.from(record.get(at)?.toString().replace('died', 'lied') ?? '')),
    'MODIFIED',
    'at',
  ],
  'is no record': [({ record, at }) => record.set(at, Buffer.from('{')), 'MODIFIED', 'at'],
  'is gone': [({ record, at }) => record.delete(at), 'MISSING', 'at'],
  'has lost its evidence': [({ record, bundle }) => record.delete(bundle), 'MISSING', 'bundle'],
  'has other evidence': [({ record, bundle }) => record.set(bundle, Buffer.from('{}')), 'MODIFIED', 'bundle'],
  'names evidence elsewhere': [
    ({ record, at, ended }) =>
      record.set(at, Buffer.from(canonical({ ...ended, evidence: { bundle: 'keys/list.json', sha256: sha256('') } }))),
    'MODIFIED',
    'at',
  ],
  'names no evidence, as if it never had any': [
    ({ record, at, bundle, ended }) => {
      record.set(at, Buffer.from(canonical(ended)));
      record.delete(bundle);
    },
    'MODIFIED',
    'at',
  ],
  'tells another story under another outcome, without its evidence': [
    ({ record, at, bundle, ended }) => {
      const error = { code: 'forged', message: 'a story' };
      record.set(at, Buffer.from(canonical({ ...ended, error, outcome: 'failed' })));
      record.delete(bundle);
    },
    'MODIFIED',
    'at',
  ],
  'is said to be another worker’s': [
    ({ record, at, ended }) => record.set(at, Buffer.from(canonical({ ...ended, worker: 'two' }))),
    'MODIFIED',
    'at',
  ],
  'was signed again by a stranger': [({ sign }) => sign(stranger), 'MODIFIED', 'at'],
  'tells another end, signed by another worker': [
    ({ sign, ended }) => sign(two, { ...ended, handedBack: true }),
    'MODIFIED',
    'at',
  ],
};

describe('a verifier of an attempt that did not end its run', () => {
  test('finds it valid, and says that it does not count', async () => {
    const { findings, attempts } = await ofAttempts(await made());
    assert.deepEqual(findings, []);
    assert.deepEqual(attempts, [{ attempt: 1, worker: 'one', ended: 'cell_failed', isSigned: true }]);
  });

  for (const [what, [edit, verdict, object]] of Object.entries(edits))
    test(`calls one ${verdict} that ${what}, and names the object`, async () => {
      const scene = await made();
      edit(scene);
      const [first] = (await ofAttempts(scene)).findings;
      assert.deepEqual([first?.verdict, first?.object], [verdict, scene[object]]);
    });

  test('believes an attempt that the result does not have only over its own worker’s signature', async () => {
    for (const [by, verdict] of [
      [one, undefined],
      [two, 'INCONSISTENT'],
      [stranger, 'UNSIGNED'],
    ] as const) {
      const scene = await made();
      scene.sign(by);
      await putSigned(scene.record, producer.signer, { ...scene.result, attempts: [] });
      scene.record.delete(scene.put.bundle);
      const [first] = (await ofAttempts(scene)).findings;
      assert.equal(first?.verdict, verdict, JSON.stringify(first));
    }
  });
});

describe('evidence of a result that was not committed', () => {
  const beside = async (by: typeof one, of?: Made) => {
    const scene = await made();
    const attempt = { attempt: 2, worker: 'two', claim: crypto.randomUUID(), startedAt: scene.ended.startedAt };
    const { finishedAt } = scene.result.timings;
    const result = { ...(of ?? scene).result, attempts: [{ ...attempt, finishedAt, outcome: 'cancelled' as const }] };
    const other = new Memory();
    const { bundle } = await putSigned(other, by.signer, result);
    const key = recordKeys.evidence(tenant, scene.run, attempt);
    scene.record.set(key, other.get(bundle) ?? assert.fail('no evidence'));
    return { ...(await ofAttempts(scene)), key };
  };

  test('stays, marked as such', async () => {
    const { findings, attempts } = await beside(two);
    assert.deepEqual(findings, []);
    assert.deepEqual(attempts?.at(-1), { attempt: 2, worker: 'two', ended: 'not_committed', isSigned: true });
  });

  test('is not taken from a stranger, nor from another run', async () => {
    const [unsigned, of] = [await beside(stranger), await beside(two, await made())];
    assert.deepEqual([unsigned.findings[0]?.verdict, unsigned.findings[0]?.object], ['UNSIGNED', unsigned.key]);
    assert.deepEqual([of.findings[0]?.verdict, of.findings[0]?.object], ['MODIFIED', of.key]);
  });

  test('is not taken under the number of another attempt', async () => {
    const scene = await made();
    const key = recordKeys.evidence(tenant, scene.run, { attempt: 7, claim: crypto.randomUUID() });
    scene.record.set(key, scene.record.get(scene.put.bundle) ?? assert.fail('no evidence'));
    const [first] = (await ofAttempts(scene)).findings;
    assert.deepEqual([first?.verdict, first?.object], ['MODIFIED', key]);
  });

  test('tells of no other attempt where the same statement has a second signature', async () => {
    const scene = await made();
    const before = await ofAttempts(scene);
    const key = recordKeys.evidence(tenant, scene.run, { attempt: 0, claim: crypto.randomUUID() });
    scene.record.set(key, signedAs(scene, twinOf));
    const { findings, attempts } = await ofAttempts(scene);
    assert.deepEqual([findings, attempts], [[], before.attempts]);
  });
});

/** The evidence of the result, with another signature over the same statement. */
function signedAs({ record, put }: Made, change: (der: Buffer) => Buffer): Buffer {
  const bundle = readBundle(record.get(put.bundle)?.toString() ?? '');
  const { dsseEnvelope } = bundle;
  const sig = change(Buffer.from(dsseEnvelope.signatures[0].sig, 'base64')).toString('base64');
  return Buffer.from(canonical({ ...bundle, dsseEnvelope: { ...dsseEnvelope, signatures: [{ sig }] } }));
}

/** In the place of the evidence, with a result that names its digest: the name is not part of what is signed. */
async function replaced(change: (der: Buffer) => Buffer) {
  const scene = await made();
  const { record, put } = scene;
  const before = await ofAttempts(scene);
  const other = signedAs(scene, change);
  assert.notDeepEqual(other, record.get(put.bundle));
  record.set(put.bundle, other);
  record.set(
    put.result,
    Buffer.from(canonical({ ...put.value, evidence: { bundle: put.bundle, sha256: sha256(other) } })),
  );
  return { before, after: await ofAttempts(scene), bundle: put.bundle };
}

describe('a signature that one without the key made from another', () => {
  test('signs the same statement by the same key, so it changes nothing that is believed', async () => {
    const { before, after } = await replaced(twinOf);
    const said = ({ verdict, findings, signedBy, attempts }: typeof after) => ({
      verdict,
      findings,
      signedBy,
      attempts,
    });
    assert.deepEqual(said(after), said(before));
  });

  for (const what of ['a byte behind it', 'a padded number', 'a long form of its length', 'a number above the order'])
    test(`is refused with ${what}`, async () => {
      const { after, bundle } = await replaced((der) => bentForms(der)[what] ?? assert.fail(what));
      assert.deepEqual([after.findings[0]?.verdict, after.findings[0]?.object], ['MODIFIED', bundle]);
    });
});
