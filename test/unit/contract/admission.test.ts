import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Admission, admit, judgeSpec, judgeInputs } from '@hotcell/contract/admission.ts';
import { messages } from '@hotcell/contract/admission-messages.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { type Policy, policyDigest } from '@hotcell/contract/policy.ts';
import type { AskedRun, RunRequest, Spec } from '@hotcell/contract/spec.ts';
import { admitted, builtHere, policyOf, prints, submitter } from '../../support/policies.ts';

const policy = policyOf(
  {
    images: ['python'],
    languages: ['python', 'bash'],
    limits: {
      timeoutSeconds: { default: 10, max: 20 },
      memoryBytes: { default: '64MiB', min: '64MiB', max: '128MiB' },
    },
    inputs: { count: 2, bytes: '1MiB', files: 10 },
    env: { job: ['TZ', 'APP_*'] },
    labels: { required: ['ticket'] },
    priority: { min: 1, default: 5, max: 8 },
    outputs: { publish: ['daily-*'] },
    retries: 1,
  },
  'office',
);
const bare = policyOf({}, 'bare');
const fine = { labels: { ticket: 'OPS-1' } };
const blocks = (...list: RunRequest['blocks']) => ({ ...fine, blocks: list });

/** Requests that together cause every message of admission. */
const asked: Record<
  string,
  { more: Partial<AskedRun>; under?: Policy; role?: 'reader'; bytes?: number; files?: number }
> = {
  'too much of everything': {
    more: { ...fine, limits: { timeoutSeconds: 21, memoryBytes: 134217729, cpus: 0.51, pids: 33 } },
  },
  'too little': { more: { ...fine, limits: { memoryBytes: 1000, cpus: 0.001 } } },
  'files that do not fit into its /work': {
    more: { ...fine, files: [{ path: 'big.txt', text: 'x'.repeat(8 * 1024 * 1024) }] },
  },
  'more files than its /work takes': {
    more: { ...fine, files: Array.from({ length: 255 }, (_, i) => ({ path: `in/${i}`, text: '' })) },
  },
  'a block longer than its run': { more: { ...fine, limits: { timeoutSeconds: 5, blockTimeoutSeconds: 6 } } },
  'an image with a registry and a tag': { more: { ...fine, image: 'docker.io/library/python:3-slim' } },
  'an image with flags': { more: { ...fine, image: 'python --privileged' } },
  'another digest of the image': { more: { ...fine, image: `python@sha256:${'9'.repeat(64)}` } },
  'a language it does not speak': { more: blocks({ language: 'ruby\u001b[31m', code: '' }) },
  'a program by argv': { more: blocks({ argv: ['curl'] }) },
  'file names that leave the work folder': { more: blocks({ language: 'python', code: '# filename: ../x.py\n' }) },
  'an argument with a NUL': { more: blocks({ argv: ['a\0b'] }), under: policyOf({ argv: true, labels: {} }, 'any') },
  'variables that are not allowed': {
    more: { ...fine, env: { LD_PRELOAD: '/inputs/x.so', SECRET: 'x', APP_X: 'a\0b' } },
  },
  'too many variables': {
    more: { ...fine, env: Object.fromEntries(Array.from({ length: 129 }, (_, i) => [`APP_${i}`, 'x'])) },
  },
  'too long variables': {
    more: { ...fine, env: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`APP_${i}`, 'x'.repeat(8000)])) },
  },
  'a session, which it does not know': { more: { ...fine, blocks: [], session: {} } },
  'no label': { more: {} },
  'a priority out of its range': { more: { ...fine, priority: 0 } },
  'a priority where there is one only': { more: { priority: 9 }, under: bare },
  'a name to publish': { more: { ...fine, publish: 'weekly-report' } },
  'a workspace where there are no inputs': { more: { workspace: 'folder' }, under: bare },
  'a name for a workspace that it does not have': { more: { ...fine, workspacePublish: 'daily-folder' } },
  'another name for its workspace': { more: { ...fine, workspace: '@empty', workspacePublish: 'weekly-folder' } },
  'one name for outputs and workspace': {
    more: { ...fine, workspace: '@empty', publish: 'daily-all', workspacePublish: 'daily-all' },
  },
  'a workspace beside too many inputs': { more: { ...fine, inputs: { a: 'x', b: 'x' }, workspace: 'folder' } },
  retries: { more: { ...fine, retry: { on: ['failed'], max: 2 } } },
  'retries where there are none': { more: { retry: { on: ['failed'], max: 1 } }, under: bare },
  inputs: { more: { ...fine, inputs: { a: 'x', b: 'x', c: 'x' } }, bytes: 1048577, files: 11 },
  'inputs where there are none': { more: { inputs: { a: 'x' } }, under: bare, bytes: 5, files: 1 },
  'with a key that only reads': { more: fine, role: 'reader' },
  'without anybody to approve': { more: {}, under: policyOf({ approval: { count: 1, by: ['admin'] } }, 'reviewed') },
};

function verdictOf(name: string): Admission {
  const { more, under = policy, role = 'submitter', bytes = 0, files = 0 } = asked[name] ?? assert.fail(name);
  const inputs = more.inputs ? [{ name: 'a', bytes, files }] : [];
  return admit({ ...prints, ...more }, under, { ...submitter, role }, inputs);
}

const specUnder = (under: Policy, more: Partial<Spec> = {}): Spec => {
  const image = under.images[0] ?? assert.fail();
  return {
    version: 1,
    run: newRunId(),
    tenant: 'tests',
    requester: { key: 'tests', role: 'submitter' },
    acceptedAt: new Date(0).toISOString(),
    blocks: prints.blocks,
    files: [],
    params: {},
    policy: { name: under.name, digest: policyDigest(under) },
    image: { ref: image.ref, digest: image.digest },
    runtime: under.runtime,
    inputs: [],
    limits: {},
    env: {},
    labels: { ticket: 'OPS-1' },
    priority: 5,
    warnings: [],
    ...more,
  };
};

describe('a refusal', () => {
  test('says exactly what was asked, what the policy allows and what to do', () => {
    const said = Object.keys(asked).map((name) => {
      const verdict = verdictOf(name);
      assert.ok(!verdict.admitted, `${name} was admitted`);
      return `## ${name}\n${verdict.reasons.map(({ path, message }) => `${path}: ${message}\n`).join('')}`;
    });
    const golden = readFileSync(join(import.meta.dirname, 'admission.golden.txt'), 'utf8');
    assert.equal(said.join('\n'), golden);
  });

  test('keeps its first hundred reasons and counts the others', () => {
    const env = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`SECRET_${i}`, 'x']));
    const verdict = admit({ ...prints, ...fine, env }, policy, submitter, []);
    assert.ok(!verdict.admitted);
    assert.equal(verdict.reasons.length, 101);
    assert.equal(
      verdict.reasons.at(-1)?.message,
      '20 more reasons. Correct these first, then submit again to see the rest.',
    );
  });

  test('is complete: one of these requests causes each message', () => {
    const heard = Object.keys(asked).flatMap((name) => {
      const verdict = verdictOf(name);
      return verdict.admitted ? [] : verdict.reasons.map(({ message }) => message);
    });
    const marks: Record<Exclude<keyof typeof messages, `spec${string}` | 'more'>, string> = {
      above: 'at most 20 s',
      below: 'at least',
      blockAboveRun: 'than the whole run',
      laidOut: "don't fit into /work",
      image: 'without registry or tag',
      imageDigest: 'Omit the digest',
      noLanguage: 'allow the language',
      noSessions: 'allows no sessions',
      argv: 'programs by argv',
      nul: 'NUL character, which no program',
      envNever: 'No policy lets a job set',
      env: 'env.job of the policy',
      envCount: 'not 129',
      envBytes: 'The variables take',
      label: 'requires this label',
      priority: 'allows priorities',
      publish: 'allow publishing',
      retries: 'Ask for fewer',
      noWorkspace: 'no workspace that could be named',
      twoNamed: 'both be published as',
      noInputs: 'allows no inputs. Remove them',
      noWorkspaces: 'a workspace counts as one',
      inputCount: 'into fewer snapshots',
      inputBytes: 'smaller inputs',
      inputFiles: 'fewer files, or',
      reader: "a reader key can't submit runs",
      approval: 'approval_unavailable',
    };
    for (const [word, mark] of Object.entries(marks))
      assert.ok(
        heard.some((message) => message.includes(mark)),
        `no request causes the message ${word}`,
      );
  });

  test('names every reason at once, each with the rule behind it', () => {
    const verdict = verdictOf('too much of everything');
    assert.ok(!verdict.admitted);
    assert.deepEqual(verdict.rules, [
      'limits.timeoutSeconds.max',
      'limits.memoryBytes.max',
      'limits.cpus.max',
      'limits.pids.max',
    ]);
    assert.equal(verdict.reasons.length, verdict.rules.length);
  });

  test('repeats a submitter’s text bounded and without control characters', () => {
    const verdict = admit({ ...prints, ...fine, image: `\u001b]0;x\u0007${'x'.repeat(250)}` }, policy, submitter, []);
    assert.ok(!verdict.admitted);
    const [{ message } = assert.fail()] = verdict.reasons;
    assert.doesNotMatch(message, /\p{Cc}/u);
    assert.ok(message.length < 400);
  });
});

describe('what is admitted', () => {
  test('has the policy’s default for everything that was not asked for', () => {
    const { effective } = admitted(policy, fine);
    assert.equal(effective.limits.timeoutSeconds, 10);
    assert.equal(effective.limits.blockTimeoutSeconds, 10);
    assert.equal(effective.priority, 5);
    assert.equal(effective.queue, 'runc');
    assert.equal(effective.image.digest, builtHere.images['python']?.digest);
  });

  test('has exactly what was asked for, within the policy', () => {
    const limits = { timeoutSeconds: 20, blockTimeoutSeconds: 3, memoryBytes: 100_000_000 };
    const { effective } = admitted(policy, {
      ...fine,
      limits,
      env: { TZ: 'UTC', APP_MODE: 'x' },
      publish: 'daily-1',
      priority: 8,
    });
    assert.deepEqual({ ...effective.limits, ...limits }, effective.limits);
    assert.deepEqual(effective.env, { TZ: 'UTC', APP_MODE: 'x' });
    assert.equal(effective.priority, 8);
  });

  test('may be named by the digest that the policy pins, and by no other', () => {
    const { digest } = builtHere.images['python'] ?? assert.fail();
    assert.equal(admitted(policy, { ...fine, image: `python@${digest}` }).effective.image.digest, digest);
  });
});

describe('the worker’s own judgement', () => {
  test('agrees with admission', () => {
    const limits = { timeoutSeconds: 20 };
    const verdict = judgeSpec(specUnder(policy, { limits }), policy);
    assert.ok(verdict.admitted);
    assert.deepEqual(verdict.effective, admitted(policy, { ...fine, limits }).effective);
  });

  test('refuses a spec that goes beyond the policy', () => {
    const spec = specUnder(policy, {
      limits: { memoryBytes: 2 ** 40 },
      env: { LD_PRELOAD: 'x' },
      runtime: 'gvisor',
      image: { ref: 'docker.io/evil', digest: `sha256:${'6'.repeat(64)}` },
      policy: { name: 'analytics', digest: policyDigest(policy) },
      blocks: [{ argv: ['sh'] }],
      labels: {},
      requester: { key: 'x', role: 'reader' },
    });
    const verdict = judgeSpec(spec, policy);
    assert.ok(!verdict.admitted);
    assert.deepEqual(verdict.rules.toSorted(), [
      'argv',
      'caller',
      'env.never',
      'labels.ticket',
      'limits.memoryBytes.max',
      'spec.image',
      'spec.policy',
      'spec.runtime',
    ]);
  });

  test('refuses a spec with another retention than its policy, also with none', () => {
    const retention = { mode: 'compliance', days: 30 } as const;
    const kept = { ...policy, retention };
    const judged = (of: Spec['retention']) => judgeSpec({ ...specUnder(kept), ...(of && { retention: of }) }, kept);
    assert.ok(judged(retention).admitted);
    for (const other of [undefined, { ...retention, days: 29 }, { ...retention, mode: 'governance' as const }]) {
      const verdict = judged(other);
      assert.ok(!verdict.admitted);
      assert.deepEqual(verdict.rules, ['spec.retention']);
    }
  });

  test('checks the sizes of the inputs once their manifests are read', () => {
    assert.deepEqual(judgeInputs(policy, [{ name: 'a', bytes: 1048576, files: 10 }]), []);
    assert.equal(
      judgeInputs(policy, [
        { name: 'a', bytes: 1048570, files: 10 },
        { name: 'b', bytes: 7, files: 1 },
      ]).length,
      2,
    );
  });
});
