import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonical, sha256 } from '@hotcell/contract/digest.ts';
import { attestedForm, type AttestedResult } from '@hotcell/contract/evidence/attested-result.ts';
import { seal } from '@hotcell/contract/evidence/dsse.ts';
import { bundleOf } from '@hotcell/contract/evidence/evidence-bundle.ts';
import { statementOf } from '@hotcell/contract/evidence/run-statement.ts';
import { BuildType, Statement, statementType } from '@hotcell/contract/evidence/statement.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { policyDigest } from '@hotcell/contract/policy.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { policyOf } from '../../../support/policies.ts';
import { listKeys, Memory, signerOf, verdictIn } from '../../../support/signed-record.ts';

const tenant = 't';
const { signer, listed } = signerOf('producer', 'producer');
const policy = policyOf({ images: ['python'], languages: ['sh'] }, 'any');
const digest = policyDigest(policy);
const policyKey = recordKeys.policy(digest);

/** A refusal as a producer of that time left it, with the policy that it names if that was kept. */
function refusal(template: BuildType, kept: Buffer | undefined) {
  const [run, record] = [newRunId(), new Memory()];
  listKeys(record, listed);
  const ending = { outcome: 'rejected', reason: 'Refused: no', errors: [] } as const;
  const base = emptyResult({ run, tenant, spec: null }, undefined, ending, new Date());
  const result: AttestedResult = { ...base, policy: { name: policy.name, digest } };
  const place = { attempt: 0, claim: crypto.randomUUID() };
  const form = attestedForm(result);
  const about = { result, form, spec: undefined, effective: undefined, receipt: null, template };
  const statement = statementOf({ ...about, attempt: `0-${place.claim}` }, signer.facts);
  const envelope = seal(signer.key, statementType, Buffer.from(canonical(statement)));
  const { text } = bundleOf(envelope, signer.key.fingerprint);
  const bundle = recordKeys.evidence(tenant, run, place);
  const evidence = { bundle, sha256: sha256(text) };
  record.set(bundle, Buffer.from(text));
  record.set(recordKeys.result(tenant, run), Buffer.from(canonical({ ...result, evidence })));
  if (kept) record.set(policyKey, kept);
  return { record, at: { tenant, run }, statement };
}

describe('the statement of a refusal', () => {
  for (const template of BuildType.options)
    test(`that was made by ${template} stays verifiable, and names its policy`, async () => {
      const { record, at, statement } = refusal(template, Buffer.from(canonical(policy)));
      assert.ok(Statement.parse(statement));
      assert.deepEqual((await verdictIn(record, at)).findings, []);
      const changed = refusal(template, Buffer.from('{}'));
      const [finding] = (await verdictIn(changed.record, changed.at)).findings;
      assert.deepEqual([finding?.verdict, finding?.object], ['MODIFIED', policyKey]);
    });

  test('has its policy in the record from the third template on', async () => {
    const verdicts = BuildType.options.map(async (template) => {
      const { record, at } = refusal(template, undefined);
      return (await verdictIn(record, at)).verdict;
    });
    assert.deepEqual(await Promise.all(verdicts), ['VALID', 'VALID', 'MISSING']);
  });

  test('says from the third template on that there was no approval', () => {
    const said = BuildType.options.map(
      (template) => refusal(template, undefined).statement.predicate.buildDefinition.externalParameters['approvals'],
    );
    assert.deepEqual(said, [undefined, undefined, []]);
  });
});
