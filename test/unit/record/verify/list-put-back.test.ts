import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonical } from '@hotcell/contract/digest.ts';
import { type KeyList, signKeyList } from '@hotcell/contract/evidence/key-list.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import type { RecordReader } from '@hotcell/record/verify/record-reader.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { VerifySummary } from '@hotcell/cli/verify-summary.ts';

const [root, stranger, key] = [0, 1, 2].map(() => new SigningKey(SigningKey.generate())) as [
  SigningKey,
  SigningKey,
  SigningKey,
];
const at = '2026-01-01T00:00:00.000Z';
const { fingerprint } = key;
const listed = { role: 'worker', name: 'one', fingerprint, publicKey: key.public.pem, from: at } as const;
const first: KeyList = { version: 1, installation: 'i', number: 1, issuedAt: at, keys: [listed] };
const revoked: KeyList = { ...first, number: 2, keys: [{ ...listed, revokedSince: at }] };
const bytesOf = (list: KeyList, by = root) => Buffer.from(canonical(signKeyList(by, list)));

const unread = () => assert.fail('only the list of keys is read');

const valid = {
  run: newRunId(),
  tenant: 't',
  verdict: 'VALID',
  findings: new Array<never>(),
  read: { objects: 1, bytes: 1 },
} as const;

/** A record with only a list of keys, and its earlier versions. */
function recordOf(current: Buffer, earlier: Buffer[]): RecordReader {
  return {
    name: 'memory',
    list: unread,
    folders: unread,
    async *earlierVersions() {
      yield* earlier;
    },
    async read(_key, sink) {
      sink(current);
      return true;
    },
  };
}

test('an earlier list that is put back brings no revoked key back, and is reported', async () => {
  const trusted = await trustedKeys(recordOf(bytesOf(first), [bytesOf(revoked), bytesOf(first)]), [root.public]);
  assert.equal(trusted.keys.get(fingerprint)?.about.revokedSince, at);
  assert.deepEqual([trusted.list.number, trusted.putBackTo], [2, 1]);
  const summary = new VerifySummary(trusted);
  summary.add(valid);
  assert.equal(summary.isAllValid, false);
  assert.match(summary.text, /list 2 of signing keys, issued at 2026-01-01.*put back from number 2 to 1/);
});

test('the newest list counts without a report, whatever no trusted root signed stands behind it', async () => {
  const earlier = [bytesOf(first), bytesOf({ ...first, number: 9 }, stranger), Buffer.from('{'), Buffer.alloc(0)];
  const trusted = await trustedKeys(recordOf(bytesOf(revoked), earlier), [root.public]);
  assert.deepEqual([trusted.list.number, trusted.putBackTo], [2, undefined]);
  const summary = new VerifySummary(trusted);
  summary.add(valid);
  assert.equal(summary.isAllValid, true);
  assert.match(summary.text, /list 2 of signing keys/);
});

test('where no run was verified, nothing is valid, and the summary says so', async () => {
  const summary = new VerifySummary(await trustedKeys(recordOf(bytesOf(first), []), [root.public]));
  assert.equal(summary.isAllValid, false);
  assert.match(summary.text, /nothing was verified/);
});
