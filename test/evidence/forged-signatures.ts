import { canonical, type Digest, sha256 } from '@hotcell/contract/digest.ts';
import type { AttestedResult } from '@hotcell/contract/evidence/attested-result.ts';
import { attestedPart } from '@hotcell/contract/evidence/attested-result.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { committed, signResult } from '@hotcell/record/attest.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import type { Signer } from '@hotcell/record/signer.ts';
import type { Row, Scene } from './object-edits.ts';
import { judged, placesOfRun } from './recorded-objects.ts';

/** What one who has no key may write into a result: the signature is not theirs. */
const unsigned: Readonly<Record<string, (result: Result) => Result>> = {
  reason: (result) => ({ ...result, reason: `${result.reason} ` }),
  outcome: (result) => ({ ...result, outcome: 'failed' }),
  limits: (result) => ({ ...result, limits: result.limits && { ...result.limits, memoryBytes: 2 ** 40 } }),
  times: (result) => ({ ...result, timings: { ...result.timings, ranMs: result.timings.ranMs + 1 } }),
  'digest of the log': (result) => ({ ...result, logs: { ...result.logs, sha256: sha256('') } }),
  'list of outputs': (result) => ({ ...result, outputs: { ...result.outputs, files: [] } }),
  'words of its cell': (result) => ({
    ...result,
    posture: result.posture && { ...result.posture, own: { ...result.posture.own, uid: '1000' } },
  }),
  image: (result) => ({ ...result, image: result.image && { ...result.image, ref: 'another' } }),
  labels: (result) => ({ ...result, labels: { team: 'another' } }),
  requester: (result) => ({ ...result, requester: { key: 'another', role: 'admin' } }),
  attempts: (result) => ({ ...result, attempts: result.attempts.map((one) => ({ ...one, worker: 'another' })) }),
  'receipt, which is gone': ({ receipt: _receipt, ...result }) => result,
};
export const inResults: Row[] = Object.entries(unsigned).map(([what, change]) => ({
  what: `a result with another ${what}`,
  edit: ({ record, subject }) => record.rewrite(placesOfRun(record, subject).result, canonical(change(subject))),
  verdict: 'MODIFIED',
  object: 'result',
}));

/** Signs the subject's end once more, changed, and puts both in the place of what stood there. */
export async function signAgain(
  { record, subject }: Scene,
  signer: Pick<Signer, 'key' | 'facts'>,
  change: (result: AttestedResult) => AttestedResult = (result) => result,
): Promise<void> {
  const { result: at, evidence: bundle } = placesOfRun(record, subject);
  const known = { ...judged(record, subject), receipt: subject.receipt };
  const attested = await signResult(signer as Signer, change(attestedPart(subject)), known);
  const whole = await committed(attested, { bundle, sha256: attested.bundle.digest });
  await record.rewrite(bundle, attested.bundle.text);
  await record.rewrite(at, whole.bytes);
}

/** A key of a stranger, which may claim to be a listed one. */
function stranger(claims?: Digest): SigningKey {
  const key = new SigningKey(SigningKey.generate());
  return { fingerprint: claims ?? key.fingerprint, sign: (bytes: Uint8Array) => key.sign(bytes) } as SigningKey;
}

const aDayAgo = () => new Date(Date.now() - 24 * 60 * 60 * 1000).toISOString();

export const signatures: Row[] = [
  {
    what: 'evidence signed by a stranger’s key',
    edit: (scene) => signAgain(scene, { ...scene.signers.worker, key: stranger() }),
    verdict: 'UNSIGNED',
    object: 'evidence',
  },
  {
    what: 'evidence signed by a stranger’s key under a listed one’s name',
    edit: (scene) => {
      const { worker } = scene.signers;
      return signAgain(scene, { ...worker, key: stranger(worker.key.fingerprint) });
    },
    verdict: 'MODIFIED',
    object: 'evidence',
  },
  {
    what: 'evidence signed by another worker',
    edit: (scene) => signAgain(scene, scene.signers.other),
    verdict: 'INCONSISTENT',
    object: 'evidence',
  },
  {
    what: 'evidence signed by the producer',
    edit: (scene) => signAgain(scene, scene.signers.producer),
    verdict: 'INCONSISTENT',
    object: 'evidence',
  },
  {
    what: 'evidence signed by another worker in the name of this one',
    edit: (scene) => signAgain(scene, { ...scene.signers.other, facts: scene.signers.worker.facts }),
    verdict: 'INCONSISTENT',
    object: 'evidence',
  },
  {
    what: 'a result that names no evidence',
    edit: ({ record, subject: { evidence: _evidence, ...rest } }) =>
      record.rewrite(recordKeys.result(rest.tenant, rest.run), canonical(rest)),
    verdict: 'UNSIGNED',
    object: 'result',
  },
  {
    what: 'evidence of a key that was revoked before',
    edit: ({ relist, signers: { worker } }) =>
      relist((key) => (key.fingerprint === worker.key.fingerprint ? { ...key, revokedSince: aDayAgo() } : key)),
    verdict: 'REVOKED',
    object: 'evidence',
    shared: true,
  },
  {
    what: 'evidence of a key that another had replaced before',
    edit: ({ relist, signers: { worker } }) =>
      relist((key) => (key.fingerprint === worker.key.fingerprint ? { ...key, until: aDayAgo() } : key)),
    verdict: 'UNSIGNED',
    object: 'evidence',
    shared: true,
  },
];
