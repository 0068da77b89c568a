import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonical, type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { bundleOf } from '@hotcell/contract/evidence/evidence-bundle.ts';
import { seal } from '@hotcell/contract/evidence/dsse.ts';
import { signKeyList } from '@hotcell/contract/evidence/key-list.ts';
import { signReceipt } from '@hotcell/contract/evidence/receipt.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { listedFrom, listKeys, Memory, putSigned, root, signerOf, verdictIn } from '../../../support/signed-record.ts';

const tenant = 't';
const { signer, listed } = signerOf('producer', 'producer');
const { key } = signer;
const { fingerprint } = listed;

async function refusal(reason = 'Refused: no') {
  const run = newRunId();
  const ending = { outcome: 'rejected', reason, errors: [] } as const;
  const record = new Memory();
  listKeys(record, listed);
  const put = await putSigned(record, signer, emptyResult({ run, tenant, spec: null }, undefined, ending, new Date()));
  return { run, record, ...put };
}

const verdict = (record: Memory, run: string) => verdictIn(record, { tenant, run });

const relist = (record: Memory, change: Partial<typeof listed>) => listKeys(record, { ...listed, ...change });

type Made = Awaited<ReturnType<typeof refusal>>;

/** What is done to the record, what a verifier says of it, and of which object. */
const changes: Readonly<Record<string, [change: (made: Made) => unknown, verdict: string, object: RegExp]>> = {
  'a result without its evidence': [
    ({ record, bundle }) => record.delete(bundle),
    'MISSING',
    /evidence\.sigstore\.json$/,
  ],
  'no result': [({ record, result }) => record.delete(result), 'MISSING', /result\.json$/],
  'a result that a deletion hides': [({ record, result }) => record.hidden.add(result), 'MISSING', /result\.json$/],
  'a result that was put over another': [
    ({ record, result }) => record.rewritten.add(result),
    'MODIFIED',
    /result\.json$/,
  ],
  'another reason': [
    ({ record, result, value }) => record.set(result, Buffer.from(canonical({ ...value, reason: 'Refused: yes' }))),
    'MODIFIED',
    /result\.json$/,
  ],
  'the same result in other bytes': [
    ({ record, result, value }) => record.set(result, Buffer.from(JSON.stringify(value, null, 1))),
    'MODIFIED',
    /result\.json$/,
  ],
  'a result that ends early': [
    ({ record, result }) => record.set(result, record.get(result)?.subarray(0, 100) ?? Buffer.alloc(0)),
    'MODIFIED',
    /result\.json$/,
  ],
  'a result that names no evidence': [
    ({ record, result, value: { evidence: _evidence, ...rest } }) => record.set(result, Buffer.from(canonical(rest))),
    'UNSIGNED',
    /result\.json$/,
  ],
  'evidence with other bytes': [
    ({ record, bundle }) =>
      record.set(bundle, Buffer.concat([record.get(bundle) ?? Buffer.alloc(0), Buffer.from(' ')])),
    'MODIFIED',
    /evidence\.sigstore\.json$/,
  ],
  'evidence of another key': [
    (made) => resigned(made, new SigningKey(SigningKey.generate())),
    'UNSIGNED',
    /evidence\.sigstore\.json$/,
  ],
  'evidence that says it is of a listed key': [
    (made) => resigned(made, new SigningKey(SigningKey.generate()), fingerprint),
    'MODIFIED',
    /evidence\.sigstore\.json$/,
  ],
  'a key that was revoked before': [
    ({ record }) => relist(record, { revokedSince: listedFrom }),
    'REVOKED',
    /evidence\.sigstore\.json$/,
  ],
  'a key that another had replaced before': [
    ({ record }) => relist(record, { until: listedFrom }),
    'UNSIGNED',
    /evidence\.sigstore\.json$/,
  ],
  'a key that was made later': [
    ({ record }) => relist(record, { from: new Date(Date.now() + 3_600_000).toISOString() }),
    'UNSIGNED',
    /evidence\.sigstore\.json$/,
  ],
  'a key that is another’s': [
    ({ record }) => relist(record, { name: 'another' }),
    'INCONSISTENT',
    /evidence\.sigstore\.json/,
  ],
  'a receipt of another run': [
    (made) => withReceipt(made, { run: newRunId(), spec: sha256('x') }),
    'MODIFIED',
    /receipt$/,
  ],
};

/** The same statement under another key, as one who can write to the bucket would put it. */
function resigned({ record, bundle, result, value }: Made, other: SigningKey, hint: Digest = other.fingerprint): void {
  const { dsseEnvelope } = JSON.parse(record.get(bundle)?.toString() ?? '') as {
    dsseEnvelope: { payload: string; payloadType: string };
  };
  const envelope = seal(other, dsseEnvelope.payloadType, Buffer.from(dsseEnvelope.payload, 'base64'));
  const { text } = bundleOf(envelope, hint);
  record.set(bundle, Buffer.from(text));
  record.set(result, Buffer.from(canonical({ ...value, evidence: { bundle, sha256: sha256(text) } })));
}

function withReceipt({ record, result, value }: Made, about: { run: string; spec: Digest }): void {
  const receipt = signReceipt(key, { installation: 'i', tenant, acceptedAt: new Date().toISOString(), ...about });
  record.set(result, Buffer.from(canonical({ ...value, receipt })));
}

describe('a verifier', () => {
  test('finds a record valid as it was written, and says who signed it', async () => {
    const { record, run } = await refusal();
    const said = await verdict(record, run);
    assert.deepEqual([said.verdict, said.findings, said.outcome], ['VALID', [], 'rejected']);
    assert.deepEqual(said.signedBy, { role: 'producer', name: 'producer', key: fingerprint });
  });

  for (const [what, [change, expected, object]] of Object.entries(changes))
    test(`calls ${what} ${expected}, and names the object`, async () => {
      const made = await refusal();
      change(made);
      const said = await verdict(made.record, made.run);
      assert.equal(said.verdict, expected, JSON.stringify(said.findings));
      assert.match(said.findings[0]?.object ?? '', object);
      assert.notEqual(said.findings[0]?.expected, said.findings[0]?.found);
    });

  test('is not satisfied with the evidence and result of another run', async () => {
    const [one, other] = [await refusal(), await refusal('Refused: other')];
    one.record.set(one.result, other.record.get(other.result) ?? Buffer.alloc(0));
    one.record.set(other.bundle, other.record.get(other.bundle) ?? Buffer.alloc(0));
    assert.equal((await verdict(one.record, one.run)).verdict, 'MODIFIED');
  });

  test('believes no list of keys but one that a trusted root signed', async () => {
    const { record } = await refusal();
    const other = new SigningKey(SigningKey.generate());
    await assert.rejects(trustedKeys(record, [other.public]), /not signed by a trusted root/);
    const list = { version: 1, installation: 'i', number: 1, issuedAt: listedFrom } as const;
    record.set(recordKeys.keyList, Buffer.from(canonical(signKeyList(other, { ...list, keys: [listed] }))));
    await assert.rejects(trustedKeys(record, [root.public]), /not signed by a trusted root/);
    record.delete(recordKeys.keyList);
    await assert.rejects(trustedKeys(record, [root.public]), /no list of signing keys/);
  });
});
