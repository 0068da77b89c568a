import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiKeyIdOf } from '@hotcell/contract/apikey.ts';
import { canonical, sha256 } from '@hotcell/contract/digest.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { parseKept } from '@hotcell/contract/parse.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { objects } from '@hotcell/record/objects.ts';
import { z } from 'zod';
import { testLimits } from '../../support/limits.ts';
import { policyOf } from '../../support/policies.ts';
import { specFor } from '../../support/spec.ts';

const run = newRunId();
const tenant = 'tests';
const digest = sha256('');
const at = '2026-01-01T00:00:00.000Z';
const claim = crypto.randomUUID();
const ofRun = { version: 1, run, tenant };
const attempt = { attempt: 1, worker: 'w', startedAt: at };
const error = { code: 'internal', message: 'm' };

const envelope = { payload: '', payloadType: 't', signatures: [{ sig: 'AA==' }] };

const bundle = {
  dsseEnvelope: envelope,
  mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
  verificationMaterial: { publicKey: { hint: digest } },
};

const spec = {
  ...specFor(tenant, 'print 1'),
  ...{ run, acceptedAt: at },
  blocks: [{ language: 'sh', code: 'print 1' }, { argv: ['true'] }],
  files: [
    { path: 'a', text: 'a' },
    { path: 'b', base64: '' },
  ],
  inputs: [{ name: 'in', snapshot: digest, locations: digest }],
  retry: { on: ['failed'], max: 1 },
};
const result = {
  ...emptyResult(
    { run, tenant, spec: digest },
    undefined,
    { outcome: 'failed', reason: 'r', errors: [] },
    new Date(at),
  ),
  limits: testLimits,
  evidence: { bundle: 'b', sha256: digest },
  receipt: envelope,
  outputs: { snapshot: null, files: [{ path: 'a', size: 0, sha256: digest }], refused: [{ path: 'b', reason: 'r' }] },
  attempts: [{ ...attempt, claim, finishedAt: at, error }],
};

const rules = { overlap: 'skip', missed: 'once', catchUp: 1, jitterSeconds: 0 };

const counts = { succeeded: 0, failed: 1, cancelled: 0, skipped: 0 };
const shownStep = { name: 'a', state: 'failed', reason: 'r', tasks: [{ name: 'a', state: 'failed', run }] };

const event = { version: 1, tenant, id: 'e', type: 'run.finished', at, data: { run } };

/** One of every object that is a JSON value. */
const step = {
  ...{ ...ofRun, index: 0, id: claim, at, requester: { key: 'k', role: 'submitter' }, before: digest },
  ...{ kind: 'step', block: { language: 'sh', code: '' }, code: digest, files: [] },
  repeat: { key: digest, body: digest },
};
const stepResult = {
  ...{ ...ofRun, index: 0, language: 'sh', outcome: 'failed', exitCode: 1, saidBy: 'cell', signal: null },
  ...{ startedAt: at, finishedAt: at, step: digest, code: digest, reason: 'r' },
  error: { name: 'n', message: 'm' },
  usage: { wallMs: 0, cpuMs: 0, peakMemoryBytes: 0, logBytes: 0 },
  log: { sha256: digest, bytes: 0, rows: [] },
  outputs: [{ kind: 'result', size: 0, sha256: digest }],
  refused: [],
};

const samples = {
  spec,
  result,
  step,
  session: { ...ofRun, attempt: 1, claim, worker: 'w', interpreter: digest, at },
  stepResult,
  attempt: {
    ...{ version: 1, run, ...attempt, finishedAt: at, error, handedBack: false },
    evidence: { bundle: 'b', sha256: digest },
  },
  attemptEvidence: bundle,
  erasure: envelope,
  snapshot: {
    ...{ version: 1, snapshot: digest, locations: digest, files: 0, bytes: 0 },
    ...{ mode: 'copy', source: '', by: '', at },
  },
  posture: { version: 1, inside: {}, outside: {}, worth: '' },
  name: { version: 1, name: 'n', history: [{ snapshot: digest, at, by: 'b' }] },
  policy: policyOf({}),
  revocation: { version: 1, policy: digest, reason: 'r', by: 'b', at },
  evidence: bundle,
  keyList: envelope,
  keyRequest: envelope,
  apiKey: {
    ...{ version: 1, id: apiKeyIdOf('k'), sha256: digest },
    ...{ tenant, role: 'reader', label: '', createdAt: at },
  },
  tenant: { version: 1, tenant, by: 'b', at },
  quota: { version: 1, tenant, quota: { waitingRuns: 1 }, by: 'b', at },
  schedule: {
    ...{ version: 1, tenant, name: 's', id: claim, key: 'k', createdAt: at },
    periods: [
      { number: 1, from: at, until: at, trigger: { cron: '@daily', timezone: 'UTC' }, rules },
      { number: 2, from: at, trigger: { everySeconds: 1, anchor: at }, rules },
    ],
    stopped: { kind: 'paused', by: 'b', reason: 'r', at },
    asked: [{ at, by: 'b' }],
    backfills: [{ id: claim, from: at, to: at, parallel: 1, by: 'b', at, next: at }],
  },
  scheduleVersion: {
    ...{ version: 1, tenant, schedule: claim, name: 's', number: 1, at, rules },
    author: { key: 'k', role: 'submitter' },
    trigger: { cron: '@daily', timezone: 'UTC' },
    request: { blocks: [{ argv: ['true'] }] },
    policy: { name: 'p', digest },
    image: { ref: 'i', digest },
    changes: [{ path: 'cron', before: 'a', after: 'b' }],
  },
  tick: {
    ...{ version: 1, tenant, schedule: claim, name: 's', kind: 'planned', planned: at, number: 1 },
    ...{
      run,
      state: 'refused',
      reason: 'r',
      errors: [{ path: 'p', message: 'm' }],
      problem: { code: 'c', message: 'm' },
      at,
      failures: 0,
    },
  },
  batch: {
    ...{ version: 1, tenant, batch: run, createdAt: at, author: { key: 'k', role: 'submitter' } },
    ...{ over: { csv: 'daily' }, rules: { parallel: 1, onFailure: 'stop' } },
    request: { blocks: [{ argv: ['true'] }] },
    ...{ policy: { name: 'p', digest }, image: { ref: 'i', digest } },
    rounds: [{ at, by: 'k', key: 'k', carried: 0, ended: { at, counts } }],
  },
  batchProgress: { version: 1, round: 0, begun: 1, open: 1, counts, at, samples: [{ at, ended: 1 }] },
  batchChunk: { version: 1, items: [{}] },
  batchEnds: {
    version: 1,
    ends: [{ item: 0, round: 0, run, outcome: 'failed', exitCode: 1, reason: 'r', result: digest, outputs: null }],
  },
  batchEvidence: bundle,
  openBatch: { version: 1, tenant, batch: run, at },
  workflow: {
    ...{ version: 1, tenant, id: run, name: 'w', at, author: { key: 'k', role: 'submitter' }, parallel: 1 },
    ...{ steps: { a: { run: { blocks: [{ argv: ['true'] }] } } }, policies: { a: digest }, given: { b: run } },
  },
  workflowCancel: { version: 1, by: 'b', reason: 'r', at },
  workflowTask: { version: 1, tenant, workflow: run, task: 'a.0', state: 'reused', run, reason: 'r', at },
  workflowProgress: { version: 1, tenant, workflow: run, at, steps: [shownStep] },
  workflowEnd: { version: 1, tenant, workflow: run, outcome: 'failed', reason: 'r', at, steps: [shownStep] },
  reusable: { version: 1, run },
  openWorkflow: { version: 1, tenant, workflow: run, at },
  slots: { version: 1, places: [{ id: run, at, made: true }] },
  webhook: {
    ...{ version: 1, tenant, id: claim, url: 'https://example.org', on: ['run.finished'], createdAt: at, by: 'b' },
    ...{ privateKey: 'k', publicKey: 'k', disabled: { at, reason: 'r' } },
  },
  callKeys: { version: 1, tenant, id: claim, createdAt: at, privateKey: 'k', publicKey: 'k' },
  webhookEvent: event,
  delivery: {
    ...{ version: 1, tenant, webhook: claim, event, state: 'due', tries: 1, nextAt: at },
    attempts: [{ at, ms: 1, status: null, said: 's' }],
  },
  sending: { version: 1, tenant },
  calling: { version: 1, tenant },
  disk: { version: 1, samples: [{ at, kinds: [{ kind: 'k', objects: 1, bytes: 1 }] }] },
  open: { ...ofRun, spec: digest, queue: 'runc', priority: 5, acceptedAt: at },
  claim: { version: 1, run, ...attempt, nonce: claim },
  cancel: { ...ofRun, by: 'b', reason: 'r', at },
  done: { ...ofRun, result: digest, finishedAt: at },
  idempotency: { ...ofRun, body: digest, at },
  freezing: { version: 1, at },
  sweeping: { version: 1, at, until: at },
};

/** Maps whose keys a submitter or an operator chooses have no fields. */
const maps = new Set(['labels', 'env', 'params', 'seccomp', 'inside', 'outside', 'policies', 'given', 'steps', 'data']);

function withAdded(value: unknown, of = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => withAdded(one));
  if (typeof value !== 'object' || value === null || maps.has(of)) return value;
  const inner = Object.entries(value).map(([key, one]) => [key, withAdded(one, key)]);
  return { ...Object.fromEntries(inner), added: { by: 'a newer version' } };
}

test('there is a sample of every object that is a JSON value', () => {
  const json = Object.entries(objects).filter(([, { schema }]) => !(schema instanceof z.ZodNever));
  assert.deepEqual(Object.keys(samples).toSorted(), json.map(([name]) => name).toSorted());
});

for (const [name, sample] of Object.entries(samples))
  test(`an object of a newer version is read with all that it adds: ${name}`, () => {
    const { schema } = objects[name as keyof typeof samples];
    const plain = canonical(sample);
    assert.deepEqual(parseKept(schema, plain, name, 'record_damaged').unknown, []);
    const newer = canonical(withAdded(sample));
    const { value, unknown } = parseKept(schema, newer, name, 'record_damaged');
    // The same bytes, so that its digest stays what others say it is.
    assert.equal(canonical(value), newer);
    assert.equal(unknown.length, newer.split('"added":').length - 1);
    assert.ok(unknown.includes('added'));
    // Formats of others carry their version in a name, which is literal.
    const other = 'version' in sample ? { ...sample, version: 0 } : { ...sample, payload: 0, mediaType: 'another' };
    assert.throws(() => parseKept(schema, canonical(other), name, 'record_damaged'), {
      code: 'record_damaged',
    });
  });
