import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedReads } from '@hotcell/producer/follow/shared-reads.ts';

/** Reads that end when the test says so, each with its number. */
function readsOf() {
  const begun: PromiseWithResolvers<number>[] = [];
  const begin = () => {
    const read = Promise.withResolvers<number>();
    begun.push(read);
    return read.promise;
  };
  return { begun, begin, end: (at: number) => begun[at]?.resolve(at) };
}

test('those who ask during a read share the next, which begins after they asked', async () => {
  const shared = new SharedReads<number>();
  const { begun, begin, end } = readsOf();
  const first = shared.read('run', begin);
  const others = Array.from({ length: 100 }, () => shared.read('run', begin));
  assert.equal(begun.length, 1);
  end(0);
  assert.equal(await first, 0);
  const late = shared.read('run', begin);
  end(1);
  assert.deepEqual(
    await Promise.all(others),
    Array.from({ length: 100 }, () => 1),
  );
  end(2);
  assert.equal(await late, 2);
  assert.equal(begun.length, 3);
});

test('a read that no other caller has begun begins at once, and each thing has a read of its own', async () => {
  const shared = new SharedReads<number>();
  const { begun, begin, end } = readsOf();
  const both = [shared.read('one', begin), shared.read('other', begin)];
  assert.equal(begun.length, 2);
  end(0);
  end(1);
  assert.deepEqual(await Promise.all(both), [0, 1]);
  const again = shared.read('one', begin);
  end(2);
  assert.equal(await again, 2);
});

test('a read that fails fails for those who shared it, and the next begins all the same', async () => {
  const shared = new SharedReads<number>();
  const { begun, begin, end } = readsOf();
  const first = shared.read('run', begin);
  const next = shared.read('run', begin);
  begun[0]?.reject(new Error('away'));
  await assert.rejects(first, /away/);
  end(1);
  assert.equal(await next, 1);
});
