import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Effective } from '@hotcell/contract/admission.ts';
import { hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { type Claimed, claimedDifferences } from '@hotcell/contract/posture/posture-claimed.ts';
import { testLimits } from '../../support/limits.ts';

const effective = {
  limits: testLimits,
  runtime: 'runc',
  env: { JOB_A: '1', OMP_NUM_THREADS: '7' },
  imageEnv: [],
  seccomp: {},
} as unknown as Effective;
const digest = (entry: string) => hexOf(sha256(entry));
const env = (...entries: string[]) => entries.map((entry) => `name=${entry.split('=', 1)[0]} sha256=${digest(entry)}`);

/** What is said of variables; the rest of this posture is missing. */
function said(lines: string[], given: Claimed['given']): string[] {
  const posture = { inside: { env: lines }, outside: {}, worth: '' };
  const all = claimedDifferences({ posture, given, inputs: ['data'], effective, seccomp: undefined });
  return [...all].filter((one) => /variable|environment|inputs/.test(one));
}

test('of a cell that waited, the job’s variables stand beside the posture and not in it', () => {
  const given = { env: { JOB_A: digest('JOB_A=1'), OMP_NUM_THREADS: digest('OMP_NUM_THREADS=7') } };
  assert.deepEqual(said(env('HOME=/work', 'OMP_NUM_THREADS=2'), given), ['nothing is mounted at /inputs']);
  assert.match(said(env('JOB_A=1'), given).join(), /the environment has JOB_A/);
});

test('of a cell that waited, a variable that was not given, was changed or added shows', () => {
  const all = { JOB_A: digest('JOB_A=1'), OMP_NUM_THREADS: digest('OMP_NUM_THREADS=7') };
  const { JOB_A: _, ...lacking } = all;
  assert.match(said([], { env: lacking }).join(), /was not given the variable JOB_A/);
  assert.match(said([], { env: { ...all, JOB_A: digest('JOB_A=2') } }).join(), /was not given the variable JOB_A/);
  assert.match(said([], { env: { ...all, MORE: digest('MORE=1') } }).join(), /was given the variable MORE/);
});

test('of a cell that was made for its run, variables and inputs stand in the posture', () => {
  const found = said(env('JOB_A=1', 'OMP_NUM_THREADS=7'), undefined);
  assert.deepEqual(found, ['nothing is mounted at /inputs', 'nothing is mounted at /inputs/data']);
  assert.match(said(env('JOB_A=2'), undefined).join(), /the variable JOB_A has another value/);
});
