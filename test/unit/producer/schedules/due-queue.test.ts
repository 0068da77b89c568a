import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DueQueue } from '@hotcell/producer/schedules/due-queue.ts';
import fc from 'fast-check';

test('what is due comes in the order of its time, and what was put again only at its newest time', () => {
  const puts = fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 100 })), { maxLength: 60 });
  fc.assert(
    fc.property(puts, (all) => {
      const queue = new DueQueue();
      const newest = new Map<string, number>();
      for (const [key, at] of all) {
        queue.put('t', String(key), at);
        newest.set(String(key), at);
      }
      assert.equal(queue.nextAt(), Math.min(...newest.values()));
      const taken: number[] = [];
      for (let key = queue.take(100); key !== undefined; key = queue.take(100)) {
        taken.push(newest.get(key) ?? Number.NaN);
        newest.delete(key);
      }
      assert.equal(newest.size, 0);
      assert.deepEqual(
        taken,
        taken.toSorted((a, b) => a - b),
      );
      assert.equal(queue.nextAt(), Number.POSITIVE_INFINITY);
    }),
  );
});

test('nothing comes before its time, and one tenant with many takes turns with one that has few', () => {
  const queue = new DueQueue();
  for (let i = 0; i < 5; i++) queue.put('many', `many-${i}`, i);
  queue.put('few', 'few-0', 50);
  queue.put('few', 'few-1', 200);
  const taken = Array.from({ length: 7 }, () => queue.take(100));
  assert.deepEqual(taken, ['many-0', 'few-0', 'many-1', 'many-2', 'many-3', 'many-4', undefined]);
  assert.equal(queue.nextAt(), 200);
});

test('a tenant that may have none now is passed over, and has its turn when it may', () => {
  const due = new DueQueue();
  for (const [tenant, key] of [
    ['busy', 'a'],
    ['busy', 'b'],
    ['other', 'c'],
  ] as const)
    due.put(tenant, key, 0);
  const mayHave = (tenant: string) => tenant !== 'busy';
  assert.deepEqual([due.take(1, mayHave), due.take(1, mayHave)], ['c', undefined]);
  assert.deepEqual([due.take(1), due.take(1), due.take(1)], ['a', 'b', undefined]);
});

test('keys that are told of again and again take no more room', () => {
  const queue = new DueQueue();
  for (let round = 0; round < 1000; round++) {
    for (let i = 0; i < 20; i++) queue.put('t', `key-${i}`, 0);
    const key = queue.take(0) ?? assert.fail('nothing is due');
    queue.put('t', key, 1_000_000);
  }
  assert.ok(queue.size < 200, `${queue.size} entries for 20 keys`);
});
