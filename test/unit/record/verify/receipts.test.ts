import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { signReceipt } from '@hotcell/contract/evidence/receipt.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { Look } from '@hotcell/record/verify/verification.ts';
import { verifyPromise } from '@hotcell/record/verify/verify-promise.ts';
import { receiptSigned } from '@hotcell/record/verify/verify-receipt.ts';
import { listKeys, Memory, signerOf, verificationOf } from '../../../support/signed-record.ts';

const { signer, listed } = signerOf('producer', 'producer');
const [before, then, after] = ['2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z', '2026-04-01T00:00:00.000Z'];

async function findingsOf(change: Partial<typeof listed>, installation = 'i') {
  const record = new Memory();
  listKeys(record, { ...listed, ...change });
  const look = new Look(await verificationOf(record));
  const promised = { installation, run: newRunId(), tenant: 't', spec: sha256('spec'), acceptedAt: then };
  receiptSigned(look, signReceipt(signer.key, promised), 'receipt');
  return look.findings.all.map(({ verdict }) => verdict);
}

test('a receipt counts only from when its key was made until it was replaced or revoked', async () => {
  assert.deepEqual(await findingsOf({ from: before, until: after }), []);
  assert.deepEqual(await findingsOf({ until: before }), ['UNSIGNED']);
  assert.deepEqual(await findingsOf({ from: after }), ['UNSIGNED']);
  assert.deepEqual(await findingsOf({ revokedSince: before }), ['REVOKED']);
});

test('a receipt that no listed producer signed is evidence that does not verify, and not a wrong command', async () => {
  const record = new Memory();
  listKeys(record, listed);
  const of = await verificationOf(record);
  const { signer: stranger } = signerOf('producer', 'producer');
  const promised = { installation: 'i', run: newRunId(), tenant: 't', spec: sha256('spec'), acceptedAt: then };
  const damaged = { ...signReceipt(signer.key, promised), signatures: signReceipt(stranger.key, promised).signatures };
  for (const receipt of [signReceipt(stranger.key, promised), damaged])
    await assert.rejects(verifyPromise(of, receipt), {
      code: 'record_damaged',
      message: /^The receipt proves nothing/,
    });
});

test('a receipt of another installation is INCONSISTENT', async () => {
  assert.deepEqual(await findingsOf({}, 'another'), ['INCONSISTENT']);
});
