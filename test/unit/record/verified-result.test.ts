import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { judgeSpec } from '@hotcell/contract/admission.ts';
import { canonical } from '@hotcell/contract/digest.ts';
import { attestedPart } from '@hotcell/contract/evidence/attested-result.ts';
import { signErasure } from '@hotcell/contract/evidence/erasure.ts';
import { Policy } from '@hotcell/contract/policy.ts';
import { Result } from '@hotcell/contract/result.ts';
import { Spec } from '@hotcell/contract/spec.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { verifiedResult } from '@hotcell/record/verified-result.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { exportSigner, putExecuted } from '../../support/exported-run.ts';
import { listKeys, Memory, putSigned, root, verdictIn } from '../../support/signed-record.ts';

async function made() {
  const record = new Memory();
  listKeys(record, exportSigner.listed);
  const at = await putExecuted(record);
  const read = (key: string): unknown => JSON.parse(record.get(key)?.toString() ?? '');
  const result = Result.parse(read(recordKeys.result(at.tenant, at.run)));
  const spec = Spec.parse(read(recordKeys.spec(at.tenant, at.run)));
  const policy = Policy.parse(read(recordKeys.policy(spec.policy.digest)));
  const trusted = () => trustedKeys(record, [root.public]);
  const verified = async () => verifiedResult(record, await trusted(), at);
  return { record, at, result, spec, policy, trusted, verified };
}

/** Its own worker signs that other code ran than the spec has. */
async function forge({ record, result, spec, policy }: Awaited<ReturnType<typeof made>>): Promise<Result> {
  const judged = judgeSpec(spec, policy);
  assert.ok(judged.admitted);
  const other: Spec = { ...spec, blocks: [{ language: 'sh', code: 'echo another' }] };
  const { effective } = judged;
  return (await putSigned(record, exportSigner.signer, attestedPart(result), { spec: other, effective })).value;
}

describe('verifiedResult', () => {
  test('answers the result of a run that verifies', async () => {
    const { verified, result } = await made();
    assert.deepEqual(await verified(), result);
  });

  test('refuses a forged run, which would be valid without its code', async () => {
    const scene = await made();
    const { record, at } = scene;
    const { evidence } = await forge(scene);
    const message = /does not verify, and an erasure would hide that: INCONSISTENT .*Nothing was removed\..* verify/s;
    await assert.rejects(scene.verified, { code: 'conflict', message });
    // This is what an erasure that is not refused does.
    const said = { version: 1, ...at, by: 'anna', reason: 'r', at: new Date().toISOString() } as const;
    const signed = signErasure(root, { ...said, evidence: evidence?.sha256 ?? assert.fail() });
    record.set(recordKeys.erasure(at.tenant, at.run), Buffer.from(canonical(signed)));
    record.delete(recordKeys.spec(at.tenant, at.run));
    assert.equal((await verdictIn(record, at)).verdict, 'VALID');
  });

  test('refuses a run with a changed or missing object, output or signature, and names it', async () => {
    const { result, at } = await made();
    const [output] = result.outputs.files;
    const keys = (of: { tenant: string; run: string }) => [
      recordKeys.spec(of.tenant, of.run),
      recordKeys.cas(of.tenant, output?.sha256 ?? assert.fail()),
      recordKeys.result(of.tenant, of.run),
    ];
    for (const index of keys(at).keys())
      for (const damage of ['changed', 'gone']) {
        const scene = await made();
        const key = keys(scene.at)[index] ?? '';
        if (damage === 'gone') scene.record.delete(key);
        else scene.record.set(key, Buffer.from('{}'));
        await assert.rejects(scene.verified, { code: 'conflict', message: new RegExp(key) }, `${key} ${damage}`);
      }
  });

  test('refuses a run whose signer the root did not list', async () => {
    const { record, trusted, at } = await made();
    const unlisted = { ...(await trusted()), keys: new Map() };
    await assert.rejects(verifiedResult(record, unlisted, at), { message: /UNSIGNED/ });
  });

  test('refuses every run while an earlier list of keys stands', async () => {
    const { record, trusted, at } = await made();
    const { list, ...known } = await trusted();
    const putBack = { ...known, list: { ...list, number: 2 }, putBackTo: 1 };
    await assert.rejects(verifiedResult(record, putBack, at), { message: /put back from number 2 to 1/ });
  });
});
