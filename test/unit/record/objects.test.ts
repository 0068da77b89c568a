import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { lockFor } from '@hotcell/record/lock-for.ts';
import { objects } from '@hotcell/record/objects.ts';
import { bucketPolicy } from '@hotcell/setup/store/rights.ts';

const run = newRunId();
const digest = sha256('x');
const samples: { [name in keyof typeof objects]: Parameters<(typeof objects)[name]['key']> } = {
  spec: ['tenant', run],
  result: ['tenant', run],
  erasure: ['tenant', run],
  attempt: ['tenant', run, { attempt: 1, claim: 'claim' }],
  log: ['tenant', run, { attempt: 1, claim: 'claim' }],
  evidence: ['tenant', run, { attempt: 1, claim: 'claim' }],
  attemptEvidence: ['tenant', run, { attempt: 1, claim: 'claim' }],
  step: ['tenant', run, 0],
  session: ['tenant', run],
  stepResult: ['tenant', run, { attempt: 1, claim: 'claim' }, 0],
  stepPart: ['tenant', run, { attempt: 1, claim: 'claim' }, 0, 'log'],
  posture: ['tenant', digest],
  content: ['tenant', digest],
  manifest: ['tenant', digest],
  locations: ['tenant', digest],
  snapshot: ['tenant', digest],
  name: ['tenant', 'name'],
  policy: [digest],
  revocation: [digest],
  seccomp: [digest],
  preload: [digest],
  imageReport: [digest],
  keyList: [],
  keyRequest: [digest],
  apiKey: ['id'],
  tenant: ['tenant'],
  quota: ['tenant'],
  schedule: ['tenant', 'name'],
  scheduleVersion: ['tenant', 'id', 1],
  tick: ['tenant', 'id', 'tick'],
  batch: ['tenant', run],
  batchProgress: ['tenant', run],
  batchChunk: ['tenant', run, 0],
  batchEnds: ['tenant', run, 0, 0],
  batchManifest: ['tenant', run, 0],
  batchEvidence: ['tenant', run, 0],
  webhook: ['tenant', 'id'],
  callKeys: ['tenant'],
  delivery: ['tenant', 'webhook', 'name'],
  webhookEvent: ['tenant', 'id'],
  sending: ['tenant', 'webhook', 'name'],
  calling: ['tenant', '00', 'name'],
  openBatch: ['tenant', run, 0],
  workflow: ['tenant', run],
  workflowCancel: ['tenant', run],
  workflowTask: ['tenant', run, 'step.0'],
  workflowProgress: ['tenant', run],
  workflowEnd: ['tenant', run],
  reusable: ['tenant', digest],
  openWorkflow: ['tenant', run],
  slots: ['workflows', 'tenant'],
  open: ['tenant', run],
  claim: [run, 1],
  segment: [run, 1, 0],
  cancel: [run],
  done: ['tenant', run],
  idempotency: ['tenant', 'key'],
  upload: ['tenant', run, 1, 'id'],
  freezing: ['tenant', 'id'],
  sweeping: [],
  disk: [],
  remembered: ['tenant', digest],
};
const keyOf = (name: keyof typeof objects) => Reflect.apply(objects[name].key, undefined, samples[name]);
const names = Object.keys(objects) as (keyof typeof objects)[];
const accounts = ['producer', 'worker', 'notary'] as const;
const keys = { producer: 'producer', worker: 'worker', notary: 'notary' };

function mayPut(account: string, bucket: 'record' | 'work', key: string): boolean {
  return bucketPolicy('b', bucket, keys).Statement.some(
    ({ Principal, Action, Resource }) =>
      Principal.AWS.includes(account) &&
      Action.includes('s3:PutObject') &&
      Resource.some((pattern) => new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(`arn:aws:s3:::b/${key}`)),
  );
}

test('the table of objects shows each key as it is built', () => {
  for (const name of names)
    assert.match(keyOf(name), new RegExp(`^${objects[name].at.replaceAll(/<[a-z]+>/g, '[^/]+')}$`), name);
});

test('an account may put exactly the objects of which the table says that it writes them', () => {
  for (const name of names) {
    const { bucket, writers } = objects[name];
    const may = accounts.filter((account) => mayPut(account, bucket, keyOf(name)));
    assert.deepEqual(
      may,
      accounts.filter((account) => writers.some((writer) => writer === account)),
      name,
    );
  }
});

test('what a run was, did and made is locked by the retention of its policy, and nothing else is', () => {
  const locked = names.filter((name) => lockFor(objects[name], { mode: 'governance', days: 1 }));
  assert.deepEqual(locked, [
    'spec',
    'result',
    'attempt',
    'log',
    'evidence',
    'attemptEvidence',
    'step',
    'session',
    'stepResult',
    'stepPart',
    'posture',
    'content',
    'manifest',
    'locations',
  ]);
  for (const name of names) assert.equal(lockFor(objects[name], undefined), undefined);
});

test('a lock lasts for all its days from the moment of the put', () => {
  const now = Date.UTC(2026, 0, 1, 0, 0, 0, 1);
  const lock = lockFor(objects.spec, { mode: 'compliance', days: 2 }, now);
  assert.equal(lock?.mode, 'COMPLIANCE');
  assert.equal(lock.until.toISOString(), '2026-01-03T00:00:02.000Z');
});
