import assert from 'node:assert/strict';
import { test } from 'node:test';
import { merge } from '@hotcell/producer/follow/merge.ts';

async function* of<T>(...items: T[]): AsyncGenerator<T> {
  yield* items;
}

test('everything of all comes once, each in its own order', async () => {
  const seen = await Array.fromAsync(merge(of('a1', 'a2', 'a3'), of('b1', 'b2'), of()));
  assert.deepEqual(
    seen.filter((item) => item.startsWith('a')),
    ['a1', 'a2', 'a3'],
  );
  assert.deepEqual(
    seen.filter((item) => item.startsWith('b')),
    ['b1', 'b2'],
  );
  assert.equal(seen.length, 5);
});

test('one that waits does not hold up the others', async () => {
  const gate = Promise.withResolvers<string>();
  async function* waiting() {
    yield await gate.promise;
  }
  const merged = merge(waiting(), of('now'));
  assert.equal((await merged.next()).value, 'now');
  gate.resolve('later');
  assert.equal((await merged.next()).value, 'later');
  assert.equal((await merged.next()).done, true);
});

test('the failure of one is told, and the others are ended', async () => {
  let ended = false;
  async function* long() {
    try {
      for (;;) yield 'more';
    } finally {
      ended = true;
    }
  }
  async function* broken(): AsyncGenerator<string> {
    yield await Promise.reject(new Error('broken'));
  }
  await assert.rejects(Array.fromAsync(merge(long(), broken())), /broken/);
  assert.equal(ended, true);
});
