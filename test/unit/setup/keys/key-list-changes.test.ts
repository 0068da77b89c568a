import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readKeyRequest, signKeyRequest } from '@hotcell/contract/evidence/key-list.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { emptyList, withKeys, withRevoked, withSuccessor, withUntil } from '@hotcell/setup/keys/key-list-changes.ts';

const key = new SigningKey(SigningKey.generate());
const now = new Date('2026-06-01T00:00:00.000Z');
const madeAt = '2026-05-01T00:00:00.000Z';
const about = { version: 1, role: 'worker', name: 'one', publicKey: key.public.pem, madeAt } as const;
const request = readKeyRequest(signKeyRequest(key, about));
const list = withKeys(emptyList('i'), [request], now);

test('a key is listed once, from when it was made on, and never from a time to come', () => {
  assert.deepEqual(
    list.keys.map(({ fingerprint, from }) => [fingerprint, from]),
    [[key.fingerprint, madeAt]],
  );
  assert.deepEqual(withKeys(list, [request], now).keys, list.keys);
  const later = withKeys(emptyList('i'), [{ ...request, madeAt: '2027-01-01T00:00:00.000Z' }], now);
  assert.equal(later.keys[0]?.from, now.toISOString());
});

test('a request that is dated back lets no key sign for the time before the last list', () => {
  const other = { ...request, fingerprint: sha256('other') };
  for (const next of [withKeys(list, [other], now), withSuccessor(list, key.fingerprint, other, now)])
    assert.equal(next.keys.at(-1)?.from, list.issuedAt);
});

test('each list has the next number, and no entry is ever removed', () => {
  const lists = [list, withRevoked(list, key.fingerprint, now, 'r', now)];
  assert.deepEqual(
    lists.map(({ number, keys }) => [number, keys.length]),
    [
      [1, 1],
      [2, 1],
    ],
  );
});

test('a revocation moves to an earlier time only', () => {
  const [early, late] = [new Date('2026-05-10T00:00:00.000Z'), new Date('2026-05-20T00:00:00.000Z')];
  const revoked = withRevoked(list, key.fingerprint, late, 'stolen', now);
  assert.equal(revoked.keys[0]?.revokedSince, late.toISOString());
  assert.equal(withRevoked(revoked, key.fingerprint, early, undefined, now).keys[0]?.revokedSince, early.toISOString());
  const again = withRevoked(withRevoked(list, key.fingerprint, early, 'a', now), key.fingerprint, late, undefined, now);
  assert.deepEqual([again.keys[0]?.revokedSince, again.keys[0]?.reason], [early.toISOString(), 'a']);
  assert.throws(() => withRevoked(list, sha256('x'), early, undefined, now), /no key sha256/);
});

test('a key that is replaced counts until then, which never moves to a later time', () => {
  const [early, late] = [new Date('2026-05-10T00:00:00.000Z'), new Date('2026-05-20T00:00:00.000Z')];
  const closed = withUntil(list, key.fingerprint, early, now);
  assert.deepEqual([closed.number, closed.keys[0]?.until], [2, early.toISOString()]);
  assert.equal(withUntil(closed, key.fingerprint, late, now).keys[0]?.until, early.toISOString());
});

test('a successor is listed in the same list that closes its predecessor, and only for the same process', () => {
  const made = new SigningKey(SigningKey.generate());
  const next = readKeyRequest(signKeyRequest(made, { ...about, publicKey: made.public.pem }));
  const after = withSuccessor(list, key.fingerprint, next, now);
  assert.deepEqual(
    [after.number, ...after.keys.map(({ fingerprint, until }) => [fingerprint, until])],
    [2, [key.fingerprint, now.toISOString()], [made.fingerprint, undefined]],
  );
  for (const other of [{ name: 'two' }, { role: 'producer' as const }])
    assert.throws(
      () => withSuccessor(list, key.fingerprint, { ...next, ...other }, now),
      /is a key of .* and .* one of/,
    );
});

test('a request that another key signed is refused', () => {
  const other = new SigningKey(SigningKey.generate());
  assert.throws(() => readKeyRequest(signKeyRequest(other, about)), /not signed by that key/);
});
