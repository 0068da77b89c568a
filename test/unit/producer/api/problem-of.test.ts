import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { Problem } from '@hotcell/contract/api/problem.ts';
import { problemOf } from '@hotcell/producer/api/problem-of.ts';

test('an error of ours is told with its code, its reasons and what belongs to it', () => {
  const issues = [{ path: 'limits.cpus', message: 'at most 2' }];
  const error = new HotcellError('policy_refused', 'refused', { issues, extra: { run: 'r' } });
  const problem = problemOf(error, 'id');
  assert.deepEqual(problem, {
    run: 'r',
    type: 'urn:hotcell:error:policy_refused',
    title: 'Refused',
    status: 422,
    code: 'policy_refused',
    detail: 'refused',
    errors: issues,
    requestId: 'id',
    retryable: false,
  });
  assert.ok(Problem.safeParse(problem).success);
});

test('what broke inside is not told to whoever asked', () => {
  const problem = problemOf(new Error('connect ECONNREFUSED 10.1.2.3:5432 password=hunter2'), 'id');
  assert.equal(problem.status, 500);
  assert.equal(problem.code, 'internal');
  assert.doesNotMatch(JSON.stringify(problem), /hunter2|10\.1\.2\.3/);
});

test('nothing an error carries replaces what a problem says of itself', () => {
  const problem = problemOf(new HotcellError('conflict', 'no', { extra: { status: 200, code: 'ok' } }), 'id');
  assert.equal(problem.status, 409);
  assert.equal(problem.code, 'conflict');
});

test('what the server refuses by itself has our codes', () => {
  const of = (statusCode: number) => problemOf(Object.assign(new Error('x'), { statusCode }), 'id').code;
  assert.deepEqual([400, 404, 415, 500].map(of), ['invalid', 'not_found', 'unsupported_media_type', 'internal']);
});
