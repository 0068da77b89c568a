import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { limitNames } from '@hotcell/contract/limits.ts';
import { classKey, classOf, outlasts, waitingPlan } from '@hotcell/executor-worker/cell/cell-class.ts';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import { testLimits } from '../../../support/limits.ts';

const init = sha256('init');
const plan: CellPlan = {
  run: 'one',
  attempt: 1,
  runtime: 'runc',
  image: { ref: 'python', digest: sha256('python') },
  limits: testLimits,
  log: { headBytes: 3, tailBytes: 1, pastLimit: 'truncate' },
  mounts: [{ source: '/a', target: '/inputs' }],
  env: { SECRET: 'x' },
  imageEnv: ['A', 'B'],
  seccomp: { 'runc-x86_64': sha256('profile') },
};
const key = (more: Partial<CellPlan> = {}) => classKey(classOf({ ...plan, ...more }), init);
/** The limits that init keeps for one job. */
const ofRun = ['timeoutSeconds', 'blockTimeoutSeconds', 'graceSeconds', 'logBytes'];

test('two runs that differ only in what is theirs have cells of one class', () => {
  const other: Partial<CellPlan> = {
    run: 'two',
    attempt: 2,
    env: { OTHER: 'y' },
    mounts: [],
    log: { headBytes: 0, tailBytes: 0, pastLimit: 'stop' },
    imageEnv: ['B', 'A'],
  };
  assert.equal(key(other), key());
});

for (const name of limitNames)
  test(`the limit ${name} is ${ofRun.includes(name) ? 'the run’s' : 'the class’s'}`, () => {
    const limits = { ...plan.limits, [name]: plan.limits[name] + 1 };
    assert.equal(key({ limits }) === key(), ofRun.includes(name));
  });

test('image, runtime, seccomp profile, let-through variables and init make another class', () => {
  const others = [
    key({ image: { ...plan.image, digest: sha256('node') } }),
    key({ runtime: 'gvisor' }),
    key({ seccomp: { 'runc-x86_64': sha256('another') } }),
    key({ imageEnv: ['A'] }),
    classKey(classOf(plan), sha256('another init')),
  ];
  assert.equal(new Set([key(), ...others]).size, others.length + 1);
});

test('a waiting cell is made from nothing of a run', () => {
  const waiting = waitingPlan(plan, [{ source: '/late', target: '/inputs' }]);
  const { run, attempt, env, mounts } = waiting;
  assert.deepEqual(
    { run, attempt, env, mounts },
    { run: '', attempt: 0, env: {}, mounts: [{ source: '/late', target: '/inputs' }] },
  );
  assert.equal(classKey(classOf(waiting), init), key());
});

test('a cell serves no run that may last longer than it was made for', () => {
  const lasting = (timeoutSeconds: number) => ({ limits: { ...plan.limits, timeoutSeconds } });
  assert.equal(outlasts(lasting(60), lasting(60)), true);
  assert.equal(outlasts(lasting(60), lasting(61)), false);
  assert.equal(outlasts(lasting(600), lasting(61)), true);
});
