import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCodes, HotcellError } from '@hotcell/contract/errors.ts';

const codes = Object.keys(errorCodes) as (keyof typeof errorCodes)[];

test('a caller may retry after a passing failure and after nothing else', () => {
  assert.deepEqual(codes.filter((code) => new HotcellError(code, '').retryable).toSorted(), [
    'api_unreachable',
    'cell_failed',
    'conflict',
    'engine_unavailable',
    'image_missing',
    'input_damaged',
    'internal',
    'newer_version',
    'overloaded',
    'posture_differs',
    'queue_full',
    'queue_unavailable',
    'quota_exceeded',
    'store_unavailable',
    'stream_broken',
    'too_many',
    'too_slow',
  ]);
});

test('every error has a status of HTTP for a refusal or a failure', () => {
  for (const code of codes) {
    const { status } = new HotcellError(code, '');
    assert.ok(status >= 400 && status < 600, `${code}: ${status}`);
  }
  for (const [code, status] of [
    ['unauthenticated', 401],
    ['forbidden', 403],
    ['not_found', 404],
    ['too_large', 413],
    ['policy_refused', 422],
    ['queue_full', 429],
    ['store_unavailable', 503],
  ] as const)
    assert.equal(new HotcellError(code, '').status, status, code);
});
