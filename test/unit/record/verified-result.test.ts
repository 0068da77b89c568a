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

describe('an erasure', () => {
  test('is of a run that verifies, as it was verified', async () => {
    const { verified, result } = await made();
    assert.deepEqual(await verified(), result);
  });

  test('is refused of a forged run, which would be valid without its code', async () => {
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

  test('is refused of a run with a changed or missing object, output or signature, and names it', async () => {
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

  test('is refused of a run whose signer the root did not list, and where the list of keys was put back', async () => {
    const scene = await made();
    const trusted = await scene.trusted();
    await assert.rejects(verifiedResult(scene.record, { ...trusted, keys: new Map() }, scene.at), {
      message: /UNSIGNED/,
    });
    await assert.rejects(verifiedResult(scene.record, { ...trusted, putBackTo: 1 }, scene.at), {
      message: /put back from number 1 to 1/,
    });
  });
});
