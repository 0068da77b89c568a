import assert from 'node:assert/strict';
import { judgeSpec } from '@hotcell/contract/admission.ts';
import { canonical, digestOf, sha256 } from '@hotcell/contract/digest.ts';
import type { AttestedResult } from '@hotcell/contract/evidence/attested-result.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { type Policy, policyDigest } from '@hotcell/contract/policy.ts';
import { manifestOf } from '@hotcell/contract/snapshot.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { type ExportIndex, exportPaths } from '@hotcell/record/export/export-layout.ts';
import { runCopies } from '@hotcell/record/export/run-copies.ts';
import { recordedRun } from '@hotcell/record/export/run-objects.ts';
import { verifyGuide } from '@hotcell/record/export/verify-guide.ts';
import { TarWriter } from '@hotcell/record/export/tar-writer.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { locationsOf } from '@hotcell/record/snapshot-locations.ts';
import { policyOf } from './policies.ts';
import { cellPosture, cellRules } from './recorded-cell.ts';
import { Memory, putSigned, root, signerOf } from './signed-record.ts';
import { specFor } from './spec.ts';

const tenant = 't';
const profile = '{}';
const policy: Policy = {
  ...policyOf(
    { images: ['python'], languages: ['sh'], inputs: { count: 1, bytes: 1000, files: 10 }, ...cellRules },
    'any',
  ),
  seccomp: { 'runc-x86_64': sha256(profile) },
};

export const exportSigner = signerOf('worker', 'one');

/** Puts a run with code, an input, a log and outputs into a record, as if a worker had executed it. */
export async function putExecuted(record: Memory, labels: Spec['labels'] = {}) {
  const put = (key: string, text: string) => record.set(key, Buffer.from(text));
  const [run, at] = [newRunId(), new Date()];
  const [image] = policy.images;
  assert.ok(image);
  const content = (text: string) => {
    const digest = sha256(text);
    put(recordKeys.cas(tenant, digest), text);
    return { sha256: digest, size: Buffer.byteLength(text) };
  };
  const source = { path: 'in.txt', ...content('data') };
  const input = manifestOf([source]);
  const location = { bucket: 'record', key: recordKeys.cas(tenant, source.sha256) };
  const places = locationsOf([{ ...source, location }]);
  put(recordKeys.manifest(tenant, input.id), input.text);
  put(recordKeys.locations(tenant, places.digest), places.text);
  const inputs = [{ name: 'in', snapshot: input.id, locations: places.digest }];
  const spec: Spec = {
    ...specFor(tenant, 'echo 1'),
    ...{ run, acceptedAt: at.toISOString(), policy: { name: policy.name, digest: policyDigest(policy) } },
    ...{ image: { ref: image.ref, digest: image.digest }, runtime: policy.runtime, inputs, labels },
    files: [{ path: 'lib/a.txt', text: 'bundled' }],
  };
  const judged = judgeSpec(spec, policy);
  assert.ok(judged.admitted, JSON.stringify(judged));
  const { effective } = judged;
  const log = 'a log';
  const files = [
    { path: 'a/b.csv', ...content('x,y\n1,2\n') },
    { path: 'c', ...content('c') },
  ];
  const outputs = manifestOf(files);
  const base = emptyResult({ run, tenant, spec: digestOf(spec) }, spec, { outcome: 'succeeded', reason: 'r' }, at);
  const { finishedAt } = base.timings;
  const claim = crypto.randomUUID();
  const block = {
    ...({ index: 0, language: 'sh', file: 'block_0.sh', exitCode: 0, signal: null, outcome: 'succeeded' } as const),
    ...{ startedAt: spec.acceptedAt, finishedAt },
  };
  const attempt = { attempt: 1, worker: 'one', claim, startedAt: spec.acceptedAt, finishedAt } as const;
  const result: AttestedResult = {
    ...base,
    ...{ inputs, limits: effective.limits, logs: { sha256: sha256(log), bytes: log.length, truncated: false } },
    outputs: { snapshot: outputs.id, files, refused: [] },
    usage: { ...base.usage, outputFiles: files.length, outputBytes: files.reduce((sum, { size }) => sum + size, 0) },
    // As of a cell that waited for its run: its inputs came late.
    ...{ exitCode: 0, blocks: [block], posture: { ...cellPosture(), given: { env: {} } } },
    timings: { ...base.timings, warm: true },
    attempts: [{ ...attempt, outcome: 'succeeded' }],
  };
  put(recordKeys.policy(policyDigest(policy)), canonical(policy));
  put(recordKeys.seccomp(sha256(profile)), profile);
  put(recordKeys.spec(tenant, run), canonical(spec));
  put(recordKeys.log(tenant, run, attempt), log);
  const error = { code: 'draining', message: 'handed back' };
  const before = { version: 1, run, ...attempt, claim: undefined, error, handedBack: true };
  put(recordKeys.attemptRecord(tenant, run, attempt), canonical(before));
  put(recordKeys.manifest(tenant, outputs.id), outputs.text);
  await putSigned(record, exportSigner.signer, result, { spec, effective });
  return { tenant, run };
}

/** The files of an export of these runs, by their paths. */
export async function exportOf(
  record: Memory,
  runs: readonly { tenant: string; run: string }[],
  contents: ExportIndex['contents'] = { inputs: true, outputs: true },
): Promise<Memory> {
  const files = new Memory();
  for (const at of runs) {
    const { objects, result, spec } = await recordedRun(record, at, contents, [{ key: root.public }]);
    for (const { key, path } of objects) {
      const bytes = record.get(key);
      if (bytes) files.set(path, bytes);
    }
    for (const { path, bytes } of runCopies(at.run, result, spec)) files.set(path, bytes);
  }
  const { role, fingerprint, publicKey } = exportSigner.listed;
  files.set(recordKeys.keyList, record.get(recordKeys.keyList) ?? Buffer.alloc(0));
  files.set(exportPaths.key(role, fingerprint), Buffer.from(publicKey));
  const index: ExportIndex = { version: 1, contents, runs: runs.map(({ tenant: of, run }) => ({ tenant: of, run })) };
  files.set(exportPaths.index, Buffer.from(JSON.stringify(index)));
  files.set(exportPaths.guide, Buffer.from(verifyGuide({ ...index, root: root.fingerprint })));
  return files;
}

export async function writeTar(path: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
  await using tar = await TarWriter.create(path);
  for (const [name, bytes] of files) await tar.add(name, new Date(0), bytes);
  await tar.finish();
}
