import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { judgeSpec } from '@hotcell/contract/admission.ts';
import { type AttestedResult, attestedPart } from '@hotcell/contract/evidence/attested-result.ts';
import { Policy } from '@hotcell/contract/policy.ts';
import { Result } from '@hotcell/contract/result.ts';
import { Spec } from '@hotcell/contract/spec.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import type { Signer } from '@hotcell/record/signer.ts';
import { exportSigner, putExecuted } from '../../../support/exported-run.ts';
import { listKeys, Memory, putSigned, signerOf, verdictIn } from '../../../support/signed-record.ts';

const others = { 'a producer': signerOf('producer', 'producer'), 'another worker': signerOf('worker', 'two') };

/** A run that was executed, with its result changed and signed once more. */
async function signedAgain(signer: Signer, change: (result: AttestedResult) => AttestedResult) {
  const record = new Memory();
  listKeys(record, exportSigner.listed, ...Object.values(others).map(({ listed }) => listed));
  const at = await putExecuted(record);
  const text = (key: string) => JSON.parse(record.get(key)?.toString() ?? '') as unknown;
  const result = Result.parse(text(recordKeys.result(at.tenant, at.run)));
  const spec = Spec.parse(text(recordKeys.spec(at.tenant, at.run)));
  const judged = judgeSpec(spec, Policy.parse(text(recordKeys.policy(spec.policy.digest))));
  assert.ok(judged.admitted);
  record.delete(result.evidence?.bundle ?? '');
  await putSigned(record, signer, change(attestedPart(result)), { spec, effective: judged.effective });
  return await verdictIn(record, at);
}

const changes: Readonly<Record<string, (result: AttestedResult) => AttestedResult>> = {
  'as it was': (result) => result,
  'without an attempt': (result) => ({ ...result, attempts: [] }),
  'that ended a moment after its attempt': (result) => {
    const finishedAt = new Date(Date.parse(result.timings.finishedAt) + 1).toISOString();
    return { ...result, timings: { ...result.timings, finishedAt } };
  },
  'whose attempt has no end': ({ attempts, ...result }) => ({
    ...result,
    attempts: attempts.map(({ outcome: _outcome, ...attempt }) => attempt),
  }),
};

describe('a result that says how a program ended', () => {
  test('is valid under the signature of the worker that had the run', async () => {
    const { verdict, findings } = await signedAgain(exportSigner.signer, (result) => result);
    assert.deepEqual([verdict, findings], ['VALID', []]);
  });

  for (const [who, { signer }] of Object.entries(others))
    for (const [what, change] of Object.entries(changes))
      test(`${what} is INCONSISTENT under the signature of ${who}`, async () => {
        const { verdict, findings } = await signedAgain(signer, change);
        assert.equal(verdict, 'INCONSISTENT', JSON.stringify(findings));
      });

  test('needs the attempt that left its log', async () => {
    const { findings } = await signedAgain(exportSigner.signer, (result) => ({ ...result, attempts: [] }));
    const named = findings.map(({ object }) => object.split(': ')[1]);
    assert.deepEqual(named, ['attempts', 'logs']);
  });
});
