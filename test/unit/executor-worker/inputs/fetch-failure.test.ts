import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { errorOf, failureOf } from '@hotcell/executor-worker/inputs/fetch-failure.ts';
import { fullDisk } from '@hotcell/executor-worker/inputs/full-disk.ts';

/** On its way from one thread to another. */
const told = (error: unknown) => errorOf(structuredClone(failureOf(3, error)));

test('a failure of ours keeps its code, by which it is tried again or not', () => {
  const error = told(new HotcellError('store_unavailable', 'away'));
  assert.ok(error instanceof HotcellError);
  assert.deepEqual([error.code, error.message], ['store_unavailable', 'away']);
});

test('a full disk is known as one on the other side', () => {
  const error = told(Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' }));
  assert.ok(!(error instanceof HotcellError));
  assert.ok(fullDisk(error));
  assert.equal(fullDisk(told(new Error('no code'))), undefined);
  assert.equal('code' in told(new Error('no code')), false);
});

test('whatever is thrown has a message, and its place in the batch', () => {
  assert.equal(told('a text').message, 'a text');
  assert.equal(failureOf(3, 'a text').index, 3);
});
