import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { judgeSpec } from '@hotcell/contract/admission.ts';
import { canonical, digestOf, sha256 } from '@hotcell/contract/digest.ts';
import { signKeyList } from '@hotcell/contract/evidence/key-list.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { policyDigest } from '@hotcell/contract/policy.ts';
import { manifestOf } from '@hotcell/contract/snapshot.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { committed, signResult } from '@hotcell/record/attest.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { openSigner, type Signer } from '@hotcell/record/signer.ts';
import { policyOf } from '../test/support/policies.ts';
import { specFor } from '../test/support/spec.ts';
import { inOwnProcess, type OwnProcess } from './support/own-process.ts';
import { type Bench, median } from './support/row.ts';

const tenant = 'bench';
const profile = '{}';
const policy = {
  ...policyOf({ images: ['python'], languages: ['sh'] }, 'any'),
  seccomp: { 'runc-x86_64': sha256(profile) },
};
const rounds = 3;

/** Verifying a copy of a record: each run with its spec, result, evidence, log and list of outputs. */
export async function bench({ target, quick }: Bench): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'verify-'));
  try {
    const root = new SigningKey(SigningKey.generate());
    const put = async (key: string, bytes: string | Uint8Array) => {
      await mkdir(dirname(join(folder, 'record', key)), { recursive: true });
      await writeFile(join(folder, 'record', key), bytes);
    };
    const signer = await openSigner(folder, 'worker', 'one');
    await put(recordKeys.keyList, canonical(signKeyList(root, listOf(signer))));
    await put(recordKeys.policy(policyDigest(policy)), canonical(policy));
    await put(recordKeys.seccomp(sha256(profile)), profile);
    const runs = quick ? 100 : 1000;
    for (let i = 0; i < runs; i++) await putRun(put, signer, i);
    const asked = { folder: join(folder, 'record'), root: root.public.pem };
    const figures: OwnProcess[] = [];
    for (let i = 0; i < rounds; i++) figures.push(await inOwnProcess<OwnProcess>('verify.process.ts', asked));
    const value = median(figures.map(({ ms }) => runs / (ms / 1000)));
    target({ name: 'verify', value, unit: 'runs/s', target: 150, atLeast: true });
    const mib = Math.max(...figures.map(({ peakBytes }) => peakBytes)) / 2 ** 20;
    target({ name: 'verify/memory', value: mib, unit: 'MiB', target: 200 });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const from = new Date(0).toISOString();
const listOf = ({ key, facts: { name } }: Signer) => ({
  ...({ version: 1, installation: 'bench', number: 1, issuedAt: from } as const),
  keys: [{ role: 'worker', name, fingerprint: key.fingerprint, publicKey: key.public.pem, from } as const],
});

async function putRun(put: (key: string, bytes: string | Uint8Array) => Promise<void>, signer: Signer, i: number) {
  const [run, at] = [newRunId(), new Date()];
  const [image] = policy.images;
  if (!image) throw new Error('the policy has no image');
  const spec: Spec = {
    ...specFor(tenant, `echo ${i}\n`.repeat(50)),
    ...{ run, acceptedAt: at.toISOString(), policy: { name: policy.name, digest: policyDigest(policy) } },
    ...{ image: { ref: image.ref, digest: image.digest }, runtime: policy.runtime },
  };
  const judged = judgeSpec(spec, policy);
  if (!judged.admitted) throw new Error(canonical(judged.reasons));
  const [log, claim] = [Buffer.from(`log ${i}\n`.repeat(100)), crypto.randomUUID()];
  const files = Array.from({ length: 5 }, (_, n) => ({ path: `file-${n}`, size: 7, sha256: sha256(`output ${n}`) }));
  const outputs = manifestOf(files);
  const base = emptyResult({ run, tenant, spec: digestOf(spec) }, spec, { outcome: 'succeeded', reason: 'r' }, at);
  const attempt = { attempt: 1, worker: 'one', claim, startedAt: spec.acceptedAt } as const;
  const result = {
    ...base,
    limits: judged.effective.limits,
    attempts: [{ ...attempt, finishedAt: base.timings.finishedAt, outcome: 'succeeded' as const }],
    logs: { sha256: sha256(log), bytes: log.length, truncated: false },
    outputs: { snapshot: outputs.id, files, refused: [] },
  };
  const attested = await signResult(signer, result, { spec, effective: judged.effective });
  const bundle = recordKeys.evidence(tenant, run, { attempt: 1, claim });
  await put(recordKeys.spec(tenant, run), canonical(spec));
  await put(recordKeys.log(tenant, run, { attempt: 1, claim }), log);
  await put(recordKeys.manifest(tenant, outputs.id), outputs.text);
  for (let n = 0; n < 5; n++) await put(recordKeys.cas(tenant, sha256(`output ${n}`)), `output ${n}`);
  await put(bundle, attested.bundle.text);
  const whole = await committed(attested, { bundle, sha256: attested.bundle.digest });
  await put(recordKeys.result(tenant, run), whole.bytes);
}
