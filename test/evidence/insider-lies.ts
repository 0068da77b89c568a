import { canonical, sha256 } from '@hotcell/contract/digest.ts';
import type { AttestedResult } from '@hotcell/contract/evidence/attested-result.ts';
import { Policy, policyDigest } from '@hotcell/contract/policy.ts';
import { PostureForm } from '@hotcell/contract/posture.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { signAgain } from './forged-signatures.ts';
import type { Row } from './object-edits.ts';
import { placesOfRun } from './recorded-objects.ts';

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
export const byInsider: Row[] = Object.entries(insider).map(([what, change]) => ({
  what: `a result that its own worker signs with another ${what}`,
  edit: (scene) => signAgain(scene, scene.signers.worker, change),
  verdict: 'INCONSISTENT',
  object: 'result',
}));

/** What it can say only with another object of the record. */
export const contradictions: Row[] = [
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
