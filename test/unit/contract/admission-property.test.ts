import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { admit, type Effective, judgeSpec } from '@hotcell/contract/admission.ts';
import { isNeverVariable } from '@hotcell/contract/job-variables.ts';
import { readRunRequest } from '@hotcell/contract/read-request.ts';
import { limitNames, limitTable } from '@hotcell/contract/limits.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { matches, type Policy, policyDigest } from '@hotcell/contract/policy.ts';
import { parsePolicyFile } from '@hotcell/contract/policy-file.ts';
import { resolvePolicy } from '@hotcell/contract/policy-merge.ts';
import type { RunRequest, Spec } from '@hotcell/contract/spec.ts';
import { initCapabilities } from '@hotcell/contract/cell-shape.ts';
import { containerOptions } from '@hotcell/executor-worker/cell/options.ts';
import fc from 'fast-check';
import { builtHere, submitter } from '../../support/policies.ts';

const envName = fc.constantFrom('TZ', 'APP_A', 'LD_PRELOAD', 'NODE_OPTIONS', 'PATH', 'HOME', 'HOTCELL_INPUTS', 'x');
const pattern = fc.constantFrom('TZ', 'APP_*', 'x', '*');
const within = (name: (typeof limitNames)[number]) => {
  const { min, max } = limitTable[name];
  const value = name === 'cpus' ? fc.double({ min, max, noNaN: true }) : fc.integer({ min, max });
  return fc.tuple(value, value, value).map((three) => {
    const [low = min, usual = min, high = max] = three.toSorted((a, b) => a - b);
    return { min: low, default: usual, max: high };
  });
};

const policy: fc.Arbitrary<Policy> = fc
  .record(
    {
      runtime: fc.constantFrom('runc', 'gvisor'),
      images: fc.constantFrom(['python'], ['node', 'python']),
      languages: fc.uniqueArray(fc.constantFrom('python', 'bash', 'javascript')),
      argv: fc.boolean(),
      limits: fc.record(Object.fromEntries(limitNames.map((name) => [name, within(name)])), { requiredKeys: [] }),
      inputs: fc.record({ count: fc.integer({ min: 0, max: 64 }), bytes: fc.nat(), files: fc.nat(1000) }),
      env: fc.record({ job: fc.uniqueArray(pattern), image: fc.uniqueArray(pattern) }),
      labels: fc.record({ required: fc.uniqueArray(fc.constantFrom('ticket', 'team')) }),
      outputs: fc.record({ publish: fc.uniqueArray(fc.constantFrom('a', 'daily-*', '*')) }),
      priority: fc.constantFrom({ min: 0, default: 5, max: 9 }, { min: 5, default: 5, max: 5 }),
      retries: fc.integer({ min: 0, max: 5 }),
      screening: fc.boolean(),
      worker: fc.record({ labels: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 3 }) }),
    },
    { requiredKeys: [] },
  )
  .map((said) => {
    const parsed = parsePolicyFile('any', said);
    assert.ok('policyFile' in parsed, JSON.stringify(parsed));
    const resolved = resolvePolicy('any', parsed.policyFile, builtHere);
    assert.ok('policy' in resolved, JSON.stringify(resolved));
    return resolved.policy;
  });

/** Whatever passes the schema of a request, and much that does not mean well. */
const asked = fc.oneof(
  fc.integer({ min: -10, max: 2 ** 45 }),
  fc.double(),
  fc.constantFrom(0, 1, 2 ** 53, Number.MAX_VALUE, Number.POSITIVE_INFINITY, Number.NaN),
);
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('python', 'bash', '# filename: ../../etc/passwd\n', 'import socket'),
);
const body = fc.record(
  {
    blocks: fc.array(
      fc.oneof(
        fc.record({ language: fc.oneof(fc.constantFrom('python', 'bash', 'js'), text), code: text }),
        fc.record({ argv: fc.array(text, { minLength: 1, maxLength: 3 }) }),
      ),
      { minLength: 1, maxLength: 3 },
    ),
    image: fc.oneof(fc.constantFrom('python', 'node', 'store', '--privileged', 'python@sha256:x'), text),
    limits: fc.dictionary(fc.constantFrom(...limitNames), asked),
    env: fc.dictionary(envName, text),
    labels: fc.dictionary(fc.constantFrom('ticket', 'team'), text),
    priority: fc.integer({ min: -1, max: 10 }),
    publish: fc.oneof(fc.constantFrom('a', 'daily-1'), text),
    inputs: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constant('x')),
    retry: fc.record({ on: fc.constant(['failed']), max: fc.integer({ min: 0, max: 6 }) }),
  },
  { requiredKeys: ['blocks'] },
);
const request: fc.Arbitrary<RunRequest> = body
  .map(readRunRequest)
  .filter((read): read is { request: RunRequest } => 'request' in read)
  .map((read) => read.request);
const sizes = fc.array(fc.record({ name: fc.constant('a'), bytes: fc.nat(), files: fc.nat(2000) }), { maxLength: 2 });

/** The ceiling that is written into the code, and none of the policy's business. */
function assertUnderTheCeiling({ limits, env, imageEnv, image }: Effective, allowed: Policy): void {
  for (const name of limitNames) {
    const { min, max } = limitTable[name];
    assert.ok(limits[name] >= min && limits[name] <= max, `${name} is ${limits[name]}`);
    assert.ok(limits[name] <= allowed.limits[name].max, `${name} is ${limits[name]}`);
  }
  for (const name of [...Object.keys(env), ...imageEnv]) assert.equal(isNeverVariable(name), false, name);
  for (const name of Object.keys(env))
    assert.ok(
      allowed.env.job.some((one) => matches(one, name)),
      name,
    );
  assert.ok(allowed.images.some(({ ref, digest }) => ref === image.ref && digest === image.digest));
}

function assertSealed(effective: Effective): void {
  const { limits, runtime, image, env, imageEnv } = effective;
  const log = { headBytes: 1, tailBytes: 1, pastLimit: effective.logs.pastLimit };
  const plan = {
    run: newRunId(),
    attempt: 1,
    runtime,
    image,
    limits,
    log,
    mounts: [],
    env,
    imageEnv,
    seccomp: effective.seccomp,
  };
  const site = {
    id: 'cell',
    uid: 10_000,
    installation: 'tests',
    worker: 'tests',
    createdAt: new Date(0),
    imageId: image.digest,
    imageVariables: [],
    files: [{ source: '/state/passwd', target: '/etc/passwd' }],
    disks: { disks: [], bytesPerSecond: 0 },
    seccomp: '{}',
  };
  const options = containerOptions(plan, site);
  const host = options.HostConfig;
  assert.equal(options.NetworkDisabled, true);
  assert.equal(options.Image, image.digest);
  assert.deepEqual(options.Env, []);
  assert.deepEqual(options.Cmd, []);
  assert.equal(host?.NetworkMode, 'none');
  assert.equal(host?.ReadonlyRootfs, true);
  assert.notEqual(host?.Privileged, true);
  assert.deepEqual(host?.CapDrop, ['ALL']);
  assert.deepEqual(host?.CapAdd, [...initCapabilities]);
  assert.deepEqual(host?.SecurityOpt, ['no-new-privileges', 'seccomp={}']);
  assert.equal(host?.Binds, undefined);
  assert.equal(host?.Devices, undefined);
  assert.deepEqual(
    host?.Mounts?.map((mount) => [mount.Source, mount.ReadOnly]),
    [['/state/passwd', true]],
  );
  const memory = host?.Memory ?? Number.POSITIVE_INFINITY;
  assert.ok(memory > 0 && memory <= limitTable.memoryBytes.max + 64 * 1024 * 1024);
  assert.equal(host?.MemorySwap, memory);
  assert.ok((host?.PidsLimit ?? 0) > 0 && (host?.CpuQuota ?? 0) > 0);
}

const specOf = (under: Policy, from: RunRequest, image: { ref: string; digest: string }): Spec => ({
  version: 1,
  run: newRunId(),
  tenant: 'tests',
  requester: { key: 'tests', role: 'submitter' },
  acceptedAt: new Date(0).toISOString(),
  blocks: from.blocks,
  files: [],
  params: {},
  policy: { name: under.name, digest: policyDigest(under) },
  image,
  runtime: under.runtime,
  inputs: Object.keys(from.inputs ?? {}).map((name) => ({ name, snapshot: image.digest, locations: image.digest })),
  limits: from.limits ?? {},
  env: from.env ?? {},
  labels: from.labels ?? {},
  priority: from.priority ?? under.priority.default,
  ...(from.publish !== undefined && { publish: from.publish }),
  ...(from.retry !== undefined && { retry: from.retry }),
  warnings: [],
});

describe('whatever policy, whatever request', () => {
  test('admission answers, and the same to the same', () => {
    fc.assert(
      fc.property(request, policy, sizes, (from, under, inputs) => {
        const verdict = admit(from, under, submitter, inputs);
        assert.deepEqual(admit(structuredClone(from), structuredClone(under), submitter, inputs), verdict);
        if (!verdict.admitted) assert.ok(verdict.reasons.length > 0 && verdict.reasons.length === verdict.rules.length);
      }),
      { numRuns: 200 },
    );
  });

  test('what is admitted lies within the policy and under the hard ceiling, down to the container’s options', () => {
    let seen = 0;
    fc.assert(
      fc.property(request, policy, sizes, (from, under, inputs) => {
        const verdict = admit(from, under, submitter, inputs);
        if (!verdict.admitted) return;
        seen++;
        assertUnderTheCeiling(verdict.effective, under);
        assertSealed(verdict.effective);
      }),
      { numRuns: 400, examples: [[{ blocks: [{ language: 'python', code: '' }] }, anything(), []]] },
    );
    assert.ok(seen > 0, 'nothing was ever admitted: this test looked at nothing');
  });

  test('the worker’s judgement is never more generous than admission', () => {
    fc.assert(
      fc.property(request, policy, (from, under) => {
        const image = under.images[0] ?? assert.fail();
        const judged = judgeSpec(specOf(under, from, { ref: image.ref, digest: image.digest }), under);
        const verdict = admit({ ...from, image: image.name }, under, submitter, []);
        if (!judged.admitted) return;
        assert.ok(verdict.admitted, JSON.stringify(verdict));
        assert.deepEqual(judged.effective, verdict.effective);
      }),
      { numRuns: 200 },
    );
  });

  test('any JSON at all is read or refused with reasons, and never throws', () => {
    const wild = fc.oneof(
      fc.jsonValue({ maxDepth: 6, noUnicodeString: false }),
      body.map((value) => value as unknown),
      fc.record({ blocks: fc.jsonValue(), limits: fc.jsonValue(), env: fc.jsonValue(), files: fc.jsonValue() }),
    );
    fc.assert(
      fc.property(wild, (value) => {
        const read = readRunRequest(value);
        if ('issues' in read)
          assert.ok(read.issues.length > 0 && read.issues.every(({ message }) => message.length > 0));
      }),
      { numRuns: 200 },
    );
  });
});

function anything(): Policy {
  const parsed = parsePolicyFile('any', {});
  assert.ok('policyFile' in parsed);
  const resolved = resolvePolicy('any', parsed.policyFile, builtHere);
  assert.ok('policy' in resolved);
  return resolved.policy;
}
