import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restUnlessAborted, unlessAborted, within } from '@hotcell/contract/waits.ts';

const forever = () => new Promise<never>(() => {});

test('work that is done in time gives its result or its error', async () => {
  const late = () => new Error('late');
  assert.equal(await within(60_000, late, async () => 'done'), 'done');
  await assert.rejects(
    within(60_000, late, async () => {
      throw new Error('failed');
    }),
    /failed/,
  );
});

test('work that is late gives the error for that, and is told by its signal', async () => {
  let told: AbortSignal | undefined;
  const late = within(
    1,
    () => new Error('late'),
    (signal) => {
      told = signal;
      return forever();
    },
  );
  await assert.rejects(late, /late/);
  assert.equal(told?.aborted, true);
});

test('late work that ends by its signal gives the error for being late all the same', async () => {
  const ends = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
  await assert.rejects(
    within(1, () => new Error('late'), ends),
    /late/,
  );
});

test('a wait for work ends with the work, or with the reason of the signal', async () => {
  const leaves = new AbortController();
  assert.equal(await unlessAborted(Promise.resolve(1), leaves.signal), 1);
  assert.equal(await unlessAborted(Promise.resolve(2), undefined), 2);
  const waiting = unlessAborted(forever(), leaves.signal);
  leaves.abort(new Error('left'));
  await assert.rejects(waiting, /left/);
  await assert.rejects(unlessAborted(forever(), leaves.signal), /left/);
});

test('a rest ends when the signal aborts, without an error', async () => {
  const ends = new AbortController();
  const resting = restUnlessAborted(2 ** 30, ends.signal);
  ends.abort();
  await resting;
  await restUnlessAborted(2 ** 30, ends.signal);
});
