import assert from 'node:assert/strict';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { canonical, sha256 } from '@hotcell/contract/digest.ts';
import { attestedForm, attestedPart, committedForm } from '@hotcell/contract/evidence/attested-result.ts';
import { Envelope, isSealedBy, payloadOf, seal } from '@hotcell/contract/evidence/dsse.ts';
import { bundleOf, tryBundle } from '@hotcell/contract/evidence/evidence-bundle.ts';
import { differencesOf } from '@hotcell/contract/evidence/json-differences.ts';
import { SigningKey, VerifyingKey } from '@hotcell/contract/evidence/signing-key.ts';
import { statementType } from '@hotcell/contract/evidence/statement.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';

const key = new SigningKey(SigningKey.generate());
const ending = { outcome: 'rejected', reason: 'no: “é”', errors: [{ path: 'policy', message: 'm' }] } as const;
const of = { run: '01a1f4c0-ddaa-7618-bcd7-a5407c9332c0', tenant: 't', spec: null };
const result = emptyResult(of, undefined, ending, new Date(0));
const evidence = { bundle: 'runs/t/x', sha256: sha256('x') };
const receipt = seal(key, 'a type', Buffer.from('{}'));

describe('a result', () => {
  test('is stored in its canonical form, with and without each of its two unsigned members', () => {
    for (const members of [{}, { evidence }, { receipt }, { evidence, receipt }]) {
      const form = attestedForm(result);
      const whole = canonical({ ...result, ...members });
      assert.equal(committedForm(form, members).bytes.toString(), whole);
      assert.equal(committedForm(form, members).digest, sha256(whole));
    }
  });

  test('attests all of its members but those two', () => {
    const form = attestedForm(result);
    assert.equal(form.bytes.toString(), canonical(result));
    assert.equal(form.digest, sha256(canonical(attestedPart({ ...result, evidence, receipt }))));
  });

  test('names its posture by the digest of the canonical form', () => {
    const posture = { inside: { ids: ['ruid=1'] }, outside: {}, worth: 'w' };
    assert.equal(attestedForm({ ...result, posture }).posture, sha256(canonical(posture)));
    assert.equal(attestedForm(result).posture, null);
  });
});

describe('an envelope', () => {
  test('signs what the standard says', () => {
    const seen: Buffer[] = [];
    seal(
      { sign: (bytes) => (seen.push(Buffer.from(bytes)), Buffer.from('s')) },
      'http://example.com/HelloWorld',
      Buffer.from('hello world'),
    );
    assert.equal(seen[0]?.toString(), 'DSSEv1 29 http://example.com/HelloWorld 11 hello world');
  });

  test('counts bytes, not characters', () => {
    const seen: Buffer[] = [];
    seal({ sign: (bytes) => (seen.push(Buffer.from(bytes)), Buffer.from('s')) }, 'é', Buffer.from('“'));
    assert.equal(seen[0]?.toString(), 'DSSEv1 2 é 3 “');
  });

  test('is not taken for one of another type, nor by another key', () => {
    const envelope = seal(key, 'a type', Buffer.from('{}'));
    const other = new SigningKey(SigningKey.generate());
    assert.equal(isSealedBy(key.public, 'a type', envelope), true);
    assert.equal(isSealedBy(key.public, 'another', envelope), false);
    assert.equal(isSealedBy(key.public, 'another', { ...envelope, payloadType: 'another' }), false);
    assert.equal(isSealedBy(other.public, 'a type', envelope), false);
  });

  test('has exactly one signature, without a key id', () => {
    const { signatures, ...rest } = seal(key, 'a type', Buffer.from('{}'));
    for (const some of [[], [...signatures, ...signatures], [{ ...signatures[0], keyid: 'x' }], [{ sig: '' }]])
      assert.equal(Envelope.safeParse({ ...rest, signatures: some }).success, false);
  });
});

/** Of every byte, with each of its bits turned, and with the byte left out. */
test('no byte of a bundle changes without notice', () => {
  const payload = Buffer.from(canonical({ some: 'statement', with: ['things'] }));
  const { text } = bundleOf(seal(key, statementType, payload), key.fingerprint);
  const bytes = Buffer.from(text);
  const unnoticed: string[] = [];
  const isGood = (changed: Buffer) => {
    const read = tryBundle(changed.toString('utf8'));
    if ('problem' in read) return false;
    const { dsseEnvelope, verificationMaterial } = read.bundle;
    const isSame = verificationMaterial.publicKey.hint === key.fingerprint;
    return isSame && isSealedBy(key.public, statementType, dsseEnvelope) && payloadOf(dsseEnvelope).equals(payload);
  };
  assert.equal(isGood(bytes), true);
  for (let at = 0; at < bytes.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(at) ^ (1 << bit), at);
      if (isGood(changed)) unnoticed.push(`bit ${bit} of byte ${at}`);
    }
    if (isGood(Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]))) unnoticed.push(`byte ${at} left out`);
  }
  for (const more of [' ', '\n', '{}']) if (isGood(Buffer.from(text + more))) unnoticed.push(`${more} added`);
  assert.deepEqual(unnoticed, []);
});

describe('a key', () => {
  test('is P-256 or none', () => {
    const form = { type: 'pkcs8', format: 'pem' } as const;
    const others = [
      generateKeyPairSync('ed25519').privateKey.export(form),
      generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey.export(form),
    ];
    for (const pem of others) assert.throws(() => new SigningKey(pem.toString()), /P-256/);
    assert.throws(() => new VerifyingKey('no key'), /not a key in PEM/);
  });

  test('signs in DER, as every other tool does', () => {
    const pem = SigningKey.generate();
    const own = new SigningKey(pem);
    assert.equal(own.public.verifies(Buffer.from('x'), createSign('sha256').update('x').sign(pem)), true);
    const plain = createSign('sha256').update('x').sign({ key: pem, dsaEncoding: 'ieee-p1363' });
    assert.equal(own.public.verifies(Buffer.from('x'), plain), false);
  });
});

test('two values differ where they do, and in what is left out or added', () => {
  const one = { a: 1, b: { c: [1, 2] }, d: undefined, e: null };
  assert.deepEqual(differencesOf(one, structuredClone(one)), []);
  assert.deepEqual(differencesOf(one, { a: 1, b: { c: [1, 3] }, f: 1 }), [
    { path: 'b.c[1]', expected: '2', found: '3' },
    { path: 'e', expected: 'null', found: 'nothing' },
    { path: 'f', expected: 'nothing', found: '1' },
  ]);
  assert.deepEqual(differencesOf({}, []), [{ path: '(whole)', expected: '{}', found: '[]' }]);
  assert.equal(differencesOf(Array(100).fill(1), Array(100).fill(2)).length, 10);
});
