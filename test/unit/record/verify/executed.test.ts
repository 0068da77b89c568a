import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { judgeSpec } from '@hotcell/contract/admission.ts';
import { canonical, digestOf, sha256 } from '@hotcell/contract/digest.ts';
import type { AttestedResult } from '@hotcell/contract/evidence/attested-result.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { type Policy, policyDigest } from '@hotcell/contract/policy.ts';
import type { BlockResult } from '@hotcell/contract/result.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { policyOf } from '../../../support/policies.ts';
import { listKeys, Memory, putSigned, signerOf, verdictIn } from '../../../support/signed-record.ts';
import { specFor } from '../../../support/spec.ts';

const tenant = 't';
const { signer, listed } = signerOf('worker', 'one');
const profile = '{}';
const policy: Policy = {
  ...policyOf({ images: ['python'], languages: ['sh'] }, 'any'),
  seccomp: { 'runc-x86_64': sha256(profile) },
};
const log = Buffer.from('log');
const posture = { inside: { invented: true }, outside: { invented: true }, worth: 'nothing' };

/** Where the worker stood when its run ended: it names in the result only what it had read. */
function ending(
  outcome: AttestedResult['outcome'],
  { knows, asks = {}, spec: given }: { knows: boolean; asks?: Spec['limits']; spec?: Spec },
) {
  const [run, at] = [given?.run ?? newRunId(), new Date()];
  const [image] = policy.images;
  assert.ok(image);
  const spec: Spec = given ?? {
    ...specFor(tenant, 'echo 1'),
    ...{ run, acceptedAt: at.toISOString(), policy: { name: policy.name, digest: policyDigest(policy) }, limits: asks },
    ...{ image: { ref: image.ref, digest: image.digest }, runtime: policy.runtime },
  };
  const of = { run, tenant, spec: digestOf(spec) };
  const base = emptyResult(of, knows ? spec : undefined, { outcome, reason: 'r' }, at);
  const { finishedAt } = base.timings;
  const startedAt = spec.acceptedAt;
  const attempt = { attempt: 1, worker: 'one', claim: crypto.randomUUID(), startedAt, finishedAt, outcome };
  const result: AttestedResult = { ...base, attempts: [attempt] };
  return { spec, attempt, result };
}

function executed() {
  const { spec, attempt, result } = ending('succeeded', { knows: true });
  const judged = judgeSpec(spec, policy);
  assert.ok(judged.admitted, JSON.stringify(judged));
  const { effective } = judged;
  const logs = { sha256: sha256(log), bytes: log.length, truncated: false };
  return { spec, attempt, effective, result: { ...result, limits: effective.limits, logs } };
}

const at = new Date().toISOString();
const block: BlockResult = {
  index: 0,
  language: 'sh',
  file: null,
  exitCode: 0,
  signal: null,
  outcome: 'succeeded',
  startedAt: at,
  finishedAt: at,
};

type Signed = Pick<ReturnType<typeof ending>, 'spec' | 'attempt' | 'result'>;

async function verdict({ spec, attempt, result }: Signed, known: Parameters<typeof putSigned>[3]) {
  const record = new Memory();
  listKeys(record, listed);
  record.set(recordKeys.policy(policyDigest(policy)), Buffer.from(canonical(policy)));
  record.set(recordKeys.seccomp(sha256(profile)), Buffer.from(profile));
  record.set(recordKeys.spec(tenant, spec.run), Buffer.from(canonical(spec)));
  record.set(recordKeys.log(tenant, spec.run, attempt), log);
  await putSigned(record, signer, result, known);
  return await verdictIn(record, { tenant, run: spec.run });
}

const leftOut: Readonly<Record<string, [Partial<AttestedResult>, knows: 'spec' | 'nothing']>> = {
  'policy, image and limits': [{ policy: null, image: null, limits: null }, 'nothing'],
  'policy, image, runtime and limits': [{ policy: null, image: null, runtime: null, limits: null }, 'nothing'],
  'its spec': [{ spec: null }, 'nothing'],
  'its limits': [{ limits: null }, 'spec'],
};

describe('a verifier of a run that was executed', () => {
  test('finds it valid with the spec, the policy and the limits that it was judged by', async () => {
    const { spec, effective } = executed();
    const made = ending('cancelled', { knows: true, spec });
    const result = { ...made.result, limits: effective.limits };
    const said = await verdict({ ...made, result }, { spec, effective });
    assert.deepEqual([said.verdict, said.findings], ['VALID', []]);
  });

  for (const [what, shown] of Object.entries({ 'no blocks and no posture': {}, 'no posture': { blocks: [block] } }))
    test(`calls a result INCONSISTENT that succeeded with ${what}`, async () => {
      const made = executed();
      const result = { ...made.result, exitCode: 0, ...shown };
      const said = await verdict({ ...made, result }, { spec: made.spec, effective: made.effective });
      assert.equal(said.verdict, 'INCONSISTENT', JSON.stringify(said.findings));
    });

  for (const [what, [change, knows]] of Object.entries(leftOut))
    test(`calls a result INCONSISTENT whose worker leaves out ${what}`, async () => {
      const made = executed();
      const result = { ...made.result, blocks: [block], exitCode: 0, posture, ...change };
      const said = await verdict({ ...made, result }, knows === 'spec' ? { spec: made.spec } : {});
      assert.equal(said.verdict, 'INCONSISTENT', JSON.stringify(said.findings));
      const found = said.findings.map(({ object }) => object.split(': ')[1]);
      for (const name of ['spec', 'policy', 'limits'] as const)
        assert.equal(found.includes(name), name in change, `${name}: ${JSON.stringify(found)}`);
    });

  for (const [what, shown] of Object.entries({
    'a log': { logs: { sha256: sha256(log), bytes: 3, truncated: false } },
    'a posture': { posture },
    'a block': { blocks: [block], posture },
  }))
    test(`calls a lost run INCONSISTENT that has ${what} and no limits`, async () => {
      const made = ending('lost', { knows: true });
      const said = await verdict({ ...made, result: { ...made.result, ...shown } }, { spec: made.spec });
      assert.equal(said.verdict, 'INCONSISTENT', JSON.stringify(said.findings));
    });

  test('calls a result INCONSISTENT whose spec the policy refuses, with and without limits', async () => {
    const made = ending('succeeded', { knows: true, asks: { timeoutSeconds: 600_000 } });
    const { limits } = executed().result;
    for (const one of [null, limits]) {
      const said = await verdict({ ...made, result: { ...made.result, limits: one } }, { spec: made.spec });
      assert.ok(
        said.findings.some(({ verdict, expected }) => verdict === 'INCONSISTENT' && expected.startsWith('a refusal')),
        JSON.stringify(said.findings),
      );
    }
  });
});

describe('a verifier of a run that no cell executed', () => {
  for (const outcome of ['lost', 'cancelled', 'rejected'] as const)
    for (const knows of [true, false])
      test(`finds a ${outcome} run valid whose worker had ${knows ? '' : 'not '}read the spec`, async () => {
        const made = ending(outcome, { knows });
        const said = await verdict(made, knows ? { spec: made.spec } : {});
        assert.deepEqual([said.verdict, said.findings], ['VALID', []]);
      });

  test('calls it INCONSISTENT if it names another image than its spec, though no policy', async () => {
    const made = ending('lost', { knows: true });
    const image = { ref: 'other', digest: sha256('other') };
    const result = { ...made.result, policy: null, image };
    const said = await verdict({ ...made, result }, {});
    assert.equal(said.verdict, 'INCONSISTENT', JSON.stringify(said.findings));
  });
});
