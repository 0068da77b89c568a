import { canonical, type Digest, sha256 } from '@hotcell/contract/digest.ts';
import type { AttestedResult } from '@hotcell/contract/evidence/attested-result.ts';
import { attestedPart } from '@hotcell/contract/evidence/attested-result.ts';
import type { KeyList } from '@hotcell/contract/evidence/key-list.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import type { Verdict } from '@hotcell/contract/evidence/verdict.ts';
import { Policy, policyDigest } from '@hotcell/contract/policy.ts';
import { PostureForm } from '@hotcell/contract/posture.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { committed, signResult } from '@hotcell/record/attest.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import type { Signer } from '@hotcell/record/signer.ts';
import type { EditedRecord } from '../support/edited-record.ts';
import { judged, type PlaceName, placesOfRun } from './recorded-objects.ts';

/** Two runs of one tenant under one policy, the keys of those who signed, and the record that they lie in. */
export interface Scene {
  record: EditedRecord;
  subject: Result;
  neighbour: Result;
  /** Of the worker that executed both, of another one, and of the producer: all on the list of keys. */
  signers: Readonly<Record<'worker' | 'other' | 'producer', Signer>>;
  relist: (change: (key: KeyList['keys'][number]) => KeyList['keys'][number]) => Promise<void>;
}

export interface Row {
  what: string;
  edit: (scene: Scene) => Promise<unknown>;
  verdict: Verdict;
  /** Which object of the subject is named first. */
  object: PlaceName;
  /** The neighbour relies on the same object. */
  shared?: boolean;
  /** Verified so long after the run. */
  laterMs?: number;
}

const shared: readonly PlaceName[] = ['policy', 'list of the image', 'seccomp profile'];
const places: readonly PlaceName[] = [
  ...(['spec', 'result', 'evidence', 'log', 'output', 'other output', 'list of outputs'] as const),
  ...(['list of inputs', 'map of inputs', 'posture'] as const),
  ...shared,
];

const changed = (bytes: Buffer) => {
  const other = Buffer.from(bytes);
  const middle = other.length >> 1;
  other.writeUInt8(other.readUInt8(middle) ^ 1, middle);
  return other;
};

type Edit = (record: EditedRecord, key: string, ofNeighbour: string) => Promise<unknown>;
/** What one who can write to the bucket, or to the store's disk, does to any object. */
const edits: Readonly<Record<string, [edit: Edit, verdict: Verdict]>> = {
  'with one bit turned': [(record, key) => record.rewrite(key, changed(record.original(key))), 'MODIFIED'],
  'that is cut off': [
    (record, key) => record.rewrite(key, record.original(key).subarray(0, record.original(key).length >> 1)),
    'MODIFIED',
  ],
  'that is empty': [(record, key) => record.rewrite(key, Buffer.alloc(0)), 'MODIFIED'],
  'with another put over it': [(record, key) => record.put(key, changed(record.original(key))), 'MODIFIED'],
  'that is another run’s': [(record, key, other) => record.rewrite(key, record.original(other)), 'MODIFIED'],
  'that is gone': [(record, key) => record.remove(key), 'MISSING'],
  'that a deletion hides': [(record, key) => record.hide(key), 'MISSING'],
};

const onObjects: Row[] = places.flatMap((object) =>
  Object.entries(edits)
    .filter(([name]) => !(shared.includes(object) && name === 'that is another run’s'))
    .map(([name, [edit, verdict]]): Row => {
      // Evidence alone may also be that of a writer which died before it put the result.
      const isPending = object === 'result' && name === 'that is gone';
      return {
        what: `the ${object} ${name}`,
        edit: ({ record, subject, neighbour }) =>
          edit(record, placesOfRun(record, subject)[object], placesOfRun(record, neighbour)[object]),
        verdict: isPending ? 'PENDING' : verdict,
        object,
        shared: shared.includes(object),
      };
    }),
);

/** The bytes are right again; the versions of the bucket tell. */
const replayed: Row[] = (['spec', 'result', 'evidence', 'log'] as const).map((object) => ({
  what: `the ${object} whose older version was put over a newer one`,
  async edit({ record, subject }) {
    const key = placesOfRun(record, subject)[object];
    await record.put(key, changed(record.original(key)));
    await record.put(key, record.original(key));
  },
  verdict: 'MODIFIED',
  object,
}));

/** The same of what the steps of a session leave. */
const stepPlaces = ['record of a step', 'result of a step', 'log of a step', 'thing that a step showed'] as const;
export const stepEdits = stepPlaces.flatMap((object) =>
  Object.entries(edits)
    .filter(([name]) => name !== 'that is another run’s')
    .map(([name, [edit, verdict]]) => ({
      what: `the ${object} ${name}`,
      edit: (record: EditedRecord, key: string) => edit(record, key, key),
      verdict,
      object,
    })),
);

/** Past a day and three times the longest time limit there is. */
const monthMs = 30 * 24 * 60 * 60 * 1000;
const later: Row[] = [
  {
    what: 'a result that is gone, after the deadline',
    edit: ({ record, subject }) => record.remove(placesOfRun(record, subject).result),
    verdict: 'MISSING',
    object: 'result',
    laterMs: monthMs,
  },
  {
    what: 'the log of a run alone, without its result and evidence, before the deadline',
    edit: ({ record, subject }) => withoutEnd(record, subject),
    verdict: 'PENDING',
    object: 'result',
  },
  {
    what: 'the log of a run alone, without its result and evidence, after the deadline',
    edit: ({ record, subject }) => withoutEnd(record, subject),
    verdict: 'OPEN',
    object: 'result',
    laterMs: monthMs,
  },
];

async function withoutEnd(record: EditedRecord, subject: Result): Promise<void> {
  const { result, evidence } = placesOfRun(record, subject);
  for (const key of [result, evidence]) await record.remove(key);
}

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
const inResults: Row[] = Object.entries(unsigned).map(([what, change]) => ({
  what: `a result with another ${what}`,
  edit: ({ record, subject }) => record.rewrite(placesOfRun(record, subject).result, canonical(change(subject))),
  verdict: 'MODIFIED',
  object: 'result',
}));

/** Signs the subject's end once more, changed, and puts both in the place of what stood there. */
async function signAgain(
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

const signatures: Row[] = [
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

const earlier = (time: string, ms: number) => new Date(Date.parse(time) - ms).toISOString();
const hourMs = 60 * 60 * 1000;

/** What a worker that was taken over signs with its own key, which is listed: it contradicts what was asked and allowed. */
const insider: Readonly<Record<string, (result: AttestedResult) => AttestedResult>> = {
  limits: (one) => ({ ...one, limits: one.limits && { ...one.limits, memoryBytes: 2 ** 40 } }),
  image: (one) => ({ ...one, image: one.image && { ...one.image, digest: sha256('another') } }),
  runtime: (one) => ({ ...one, runtime: 'gvisor' }),
  requester: (one) => ({ ...one, requester: { key: 'another', role: 'admin' } }),
  labels: (one) => ({ ...one, labels: { team: 'another' } }),
  'time of its acceptance': (one) => ({
    ...one,
    timings: { ...one.timings, acceptedAt: earlier(one.timings.acceptedAt, hourMs) },
  }),
  'attempt, which ended before it began': (one) => ({
    ...one,
    attempts: one.attempts.map((attempt) => ({ ...attempt, startedAt: earlier(attempt.startedAt, -hourMs) })),
  }),
  'blocks, which ran before the attempt began': (one) => ({
    ...one,
    blocks: one.blocks.map((block) => ({ ...block, startedAt: earlier(one.timings.acceptedAt, hourMs) })),
  }),
  'language of a block': (one) => ({ ...one, blocks: one.blocks.map((block) => ({ ...block, language: 'node' })) }),
  'exit code of a block, though the run succeeded': (one) => ({
    ...one,
    blocks: one.blocks.map((block) => ({ ...block, exitCode: 3, outcome: 'failed' })),
  }),
  'cell: none, and no blocks': (one) => ({ ...one, posture: null, blocks: [] }),
  'cell: none': (one) => ({ ...one, posture: null }),
  'size of its outputs': (one) => ({ ...one, usage: { ...one.usage, outputBytes: 1 } }),
  'list of outputs, that leaves one out': (one) => ({
    ...one,
    outputs: { ...one.outputs, files: one.outputs.files.slice(1) },
    usage: {
      ...one.usage,
      outputFiles: one.outputs.files.length - 1,
      outputBytes: one.outputs.files.slice(1).reduce((sum, { size }) => sum + size, 0),
    },
  }),
  'inputs: none': (one) => ({ ...one, inputs: [] }),
};
const byInsider: Row[] = Object.entries(insider).map(([what, change]) => ({
  what: `a result that its own worker signs with another ${what}`,
  edit: (scene) => signAgain(scene, scene.signers.worker, change),
  verdict: 'INCONSISTENT',
  object: 'result',
}));

const contradictions: Row[] = [
  {
    what: 'a result that its own worker signs under a policy that allows more',
    async edit(scene) {
      const { record, subject } = scene;
      const policy = Policy.parse(JSON.parse(record.original(placesOfRun(record, subject).policy).toString()));
      const memoryBytes = { ...policy.limits.memoryBytes, max: 2 ** 40 };
      const lax: Policy = { ...policy, limits: { ...policy.limits, memoryBytes } };
      const digest = policyDigest(lax);
      await record.rewrite(recordKeys.policy(digest), canonical(lax));
      await signAgain(scene, scene.signers.worker, (one) => ({ ...one, policy: { name: lax.name, digest } }));
    },
    verdict: 'INCONSISTENT',
    object: 'result',
  },
  {
    what: 'a result that its own worker signs with a posture that the policy forbids',
    async edit(scene) {
      const { record, subject } = scene;
      const form = PostureForm.parse(JSON.parse(record.original(placesOfRun(record, subject).posture).toString()));
      const weak = canonical({ ...form, outside: { ...form.outside, privileged: true, NoNewPrivs: '0' } });
      const digest = sha256(weak);
      await record.rewrite(recordKeys.posture(subject.tenant, digest), weak);
      await signAgain(scene, scene.signers.worker, (one) => ({
        ...one,
        posture: one.posture && { ...one.posture, digest },
      }));
    },
    verdict: 'INCONSISTENT',
    object: 'result',
  },
  {
    what: 'a result that its own worker signs with the log of another run',
    edit: (scene) => signAgain(scene, scene.signers.worker, (one) => ({ ...one, logs: scene.neighbour.logs })),
    verdict: 'MODIFIED',
    object: 'log',
  },
];

export const rows: readonly Row[] = [
  ...onObjects,
  ...replayed,
  ...later,
  ...inResults,
  ...signatures,
  ...byInsider,
  ...contradictions,
];
