import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { Problem } from '@hotcell/contract/api/problem.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
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

test('an internal error does not tell the caller its cause', () => {
  const problem = problemOf(new Error('connect ECONNREFUSED 10.1.2.3:5432 password=hunter2'), 'id');
  assert.equal(problem.status, 500);
  assert.equal(problem.code, 'internal');
  assert.doesNotMatch(JSON.stringify(problem), /hunter2|10\.1\.2\.3/);
});

test('a part of ours that fails is not named with its buckets, keys and addresses', () => {
  const s3 = Object.assign(new Error('403'), { $metadata: {} });
  const inside = [
    new HotcellError('store_unavailable', 'The store could not get hotcell-record/runs/t/x: 10.1.2.3'),
    new HotcellError('queue_unavailable', 'Valkey does not answer (connect ECONNREFUSED 10.1.2.3:6379)'),
    new HotcellError('forbidden', 'The store does not let this process put hotcell-record/x.', { cause: s3 }),
    new PreconditionFailed('hotcell-record', 'names/t/x.json', s3),
  ];
  const problems = inside.map((error) => problemOf(error, 'id'));
  for (const problem of problems) assert.doesNotMatch(JSON.stringify(problem), /hotcell-record|10\.1\.2\.3/);
  assert.deepEqual(
    problems.map(({ code, status }) => [code, status]),
    [
      ['store_unavailable', 503],
      ['queue_unavailable', 503],
      ['internal', 500],
      ['conflict', 409],
    ],
  );
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
