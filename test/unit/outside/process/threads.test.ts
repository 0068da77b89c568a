import assert from 'node:assert/strict';
import { setImmediate as breathe, setTimeout as pause } from 'node:timers/promises';
import { test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { Threads } from '@hotcell/outside/process/threads.ts';
import type { TestCalls } from './calls-of-tests.ts';

const module = new URL('./calls-of-tests.ts', import.meta.url);
const open = (more: { most?: number; idleMs?: number } = {}) =>
  new Threads<TestCalls>(module, { most: 1, data: { from: 'the test' }, heapMiB: 64, ...more });
const flag = () => new Int32Array(new SharedArrayBuffer(4));
function set(held: Int32Array): void {
  Atomics.store(held, 0, 1);
  Atomics.notify(held, 0);
}

test('a thread has what it is given, and answers calls in their order', async () => {
  await using threads = open();
  assert.deepEqual(await threads.call('given'), { from: 'the test' });
  assert.deepEqual(await Promise.all([threads.call('count'), threads.call('count'), threads.call('count')]), [1, 2, 3]);
});

test('bytes change hands, and those of a larger buffer are copied', async () => {
  await using threads = open();
  const own = new Uint8Array(1_000);
  const { bytes, was } = await threads.call('grow', own);
  assert.deepEqual([bytes.length, was, own.length], [1_001_000, 1_000, 0]);
  const part = new Uint8Array(2_000).subarray(0, 1_000);
  assert.equal((await threads.call('grow', part)).was, 1_000);
  assert.equal(part.length, 1_000);
});

test('a refusal comes back with its code, issues and fields, and any other failure with its message', async () => {
  await using threads = open();
  await assert.rejects(threads.call('refuse'), (error) => {
    assert.ok(error instanceof HotcellError);
    assert.deepEqual([error.code, error.message, error.extra], ['not_found', 'There is none.', { limit: 3 }]);
    assert.equal(error.issues.length, 1);
    return true;
  });
  await assert.rejects(
    threads.call('fail'),
    (error) => error instanceof Error && !(error instanceof HotcellError) && error.message === 'it broke',
  );
  assert.equal(await threads.call('count'), 1);
});

test('calls go on beside one that lasts, on as many threads as there may be', async () => {
  await using threads = open({ most: 2 });
  const [one, two] = [flag(), flag()];
  const first = threads.call('holdUntilSet', one);
  assert.equal(await threads.call('count'), 1);
  const second = threads.call('holdUntilSet', two);
  let isAnswered = false;
  const third = threads.call('count').finally(() => {
    isAnswered = true;
  });
  await breathe();
  assert.equal(isAnswered, false);
  set(two);
  await second;
  assert.equal(await third, 2, 'the thread that was free first has it');
  set(one);
  await first;
});

test('a thread that dies fails its own call alone, and the next call has a new one', async () => {
  await using threads = open();
  const dies = threads.call('die');
  const waits = threads.call('count');
  await assert.rejects(dies, { code: 'internal' });
  assert.equal(await waits, 1);
  assert.equal(await threads.call('count'), 2);
});

test('a thread that died while it was free is called no more', async () => {
  await using threads = open({ most: 2 });
  const held = flag();
  const lasts = threads.call('holdUntilSet', held);
  await assert.rejects(threads.call('die'), { code: 'internal' });
  assert.equal(await threads.call('count'), 1);
  assert.equal(await threads.call('count'), 2);
  set(held);
  await lasts;
});

test('a thread without work ends after its time, and a call in that moment has a new one', async () => {
  await using threads = open({ idleMs: 1 });
  assert.equal(await threads.call('count'), 1);
  // This timer fires behind the one that ends the thread, and before the thread is gone.
  await pause(1);
  assert.equal(await threads.call('count'), 1);
});

test('after the end every call fails, also those that still waited', async () => {
  const threads = open();
  const held = flag();
  const lasts = threads.call('holdUntilSet', held);
  const waits = threads.call('count');
  const ended = threads[Symbol.asyncDispose]();
  await assert.rejects(lasts, { code: 'internal' });
  await assert.rejects(waits, { code: 'internal' });
  await ended;
  await assert.rejects(threads.call('count'), { code: 'internal' });
});
