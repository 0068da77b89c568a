import assert from 'node:assert/strict';
import { setImmediate as breathe } from 'node:timers/promises';
import { test } from 'node:test';
import type { LogRow } from '@hotcell/contract/log-rows.ts';
import { LogFeed } from '@hotcell/executor-worker/logs/log-feed.ts';

const mib = 1024 * 1024;
const row = (seq: number): LogRow => ({ seq, at: '2026-01-01T00:00:00Z', block: 0, stream: 'stdout', text: 'x' });

/** A feed whose store answers when the test says so, and so does Valkey if it is `slow`. */
function feed({ slow = false } = {}) {
  const puts: { index: number; body: string; done: PromiseWithResolvers<void> }[] = [];
  const batches: { rows: readonly LogRow[]; done: PromiseWithResolvers<void> }[] = [];
  const troubles: string[] = [];
  const live = new LogFeed({
    putSegment: (index, body) => {
      const done = Promise.withResolvers<void>();
      puts.push({ index, body, done });
      return done.promise;
    },
    publish: (rows) => {
      const done = Promise.withResolvers<void>();
      batches.push({ rows, done });
      if (!slow) done.resolve();
      return done.promise;
    },
    onError: (what) => troubles.push(what),
  });
  const seqs = () => batches.map(({ rows }) => rows.map(({ seq }) => seq));
  return { live, puts, batches, troubles, seqs };
}
const settled = async (work: Promise<unknown>) => {
  let isSettled = false;
  void work.finally(() => {
    isSettled = true;
  });
  for (let i = 0; i < 5; i++) await breathe();
  return isSettled;
};

test('live rows go one call at a time, and those that come meanwhile go together with the next', async () => {
  const { live, batches, seqs } = feed({ slow: true });
  await live.append([row(0)], 'a');
  await breathe();
  await live.append([row(1)], 'b');
  await live.append([row(2)], 'c');
  await breathe();
  assert.deepEqual(seqs(), [[0]]);
  batches[0]?.done.resolve();
  await breathe();
  assert.deepEqual(seqs(), [[0], [1, 2]]);
  batches[1]?.done.resolve();
  await live.close();
});

test('past a bound no more rows wait for Valkey, and once they are through, rows are taken again', async () => {
  const { live, batches, puts, seqs } = feed({ slow: true });
  const text = 'x'.repeat(0.6 * mib);
  await live.append([row(0)], text);
  await breathe();
  await live.append([row(1)], text);
  await live.append([row(2)], 'c');
  batches[0]?.done.resolve();
  await breathe();
  batches[1]?.done.resolve();
  await breathe();
  await live.append([row(3)], 'd');
  await breathe();
  assert.deepEqual(seqs(), [[0], [1], [3]]);
  batches[2]?.done.resolve();
  const closed = live.close();
  puts[0]?.done.resolve();
  await breathe();
  puts[1]?.done.resolve();
  await closed;
});

test('Valkey being away is reported, and costs no row of the segments', async () => {
  const { live, batches, puts, troubles } = feed({ slow: true });
  await live.append([row(0)], 'a'.repeat(mib));
  await breathe();
  batches[0]?.done.reject(new Error('away'));
  puts[0]?.done.resolve();
  await breathe();
  await live.append([row(1)], 'b');
  await breathe();
  batches[1]?.done.resolve();
  const closed = live.close();
  await breathe();
  puts[1]?.done.resolve();
  await closed;
  assert.deepEqual(troubles, ['failed to publish live log rows']);
  assert.deepEqual(
    puts.map(({ index, body }) => [index, body.length]),
    [
      [0, mib],
      [1, 1],
    ],
  );
});

test('while one segment is on its way and the next is full, the writer waits', async () => {
  const { live, puts } = feed();
  await live.append([], 'a'.repeat(mib));
  const full = live.append([], 'b'.repeat(mib));
  assert.equal(await settled(full), false);
  assert.equal(puts.length, 1);
  puts[0]?.done.resolve();
  assert.equal(await settled(full), true);
  assert.deepEqual(
    puts.map(({ index, body }) => [index, body[0], body.length]),
    [
      [0, 'a', mib],
      [1, 'b', mib],
    ],
  );
  puts[1]?.done.resolve();
  await live.close();
});

test('what is less than a segment is put after a while, and what came meanwhile after the next', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { live, puts } = feed();
  await live.append([], 'a');
  await live.append([], 'b');
  assert.equal(puts.length, 0);
  t.mock.timers.tick(5_000);
  assert.deepEqual(
    puts.map(({ body }) => body),
    ['ab'],
  );
  await live.append([], 'c');
  puts[0]?.done.resolve();
  await breathe();
  t.mock.timers.tick(5_000);
  assert.deepEqual(
    puts.map(({ body }) => body),
    ['ab', 'c'],
  );
  puts[1]?.done.resolve();
  await live.close();
});

test('a segment that could not be put is reported, and the next one is put', async () => {
  const { live, puts, troubles } = feed();
  await live.append([], 'a'.repeat(mib));
  puts[0]?.done.reject(new Error('away'));
  await breathe();
  await live.append([], 'b'.repeat(mib));
  puts[1]?.done.resolve();
  await live.close();
  assert.deepEqual(troubles, ['failed to write the log segment 0']);
});

test('the end waits for all that is on its way, and a short log leaves no segment', async () => {
  const short = feed({ slow: true });
  await short.live.append([row(0)], 'a');
  const closed = short.live.close();
  assert.equal(await settled(closed), false);
  short.batches[0]?.done.resolve();
  await closed;
  assert.equal(short.puts.length, 0);

  const long = feed();
  await long.live.append([], 'a'.repeat(mib));
  await long.live.append([], 'b');
  const ended = long.live.close();
  assert.equal(await settled(ended), false);
  long.puts[0]?.done.resolve();
  assert.equal(await settled(ended), false);
  assert.equal(long.puts[1]?.body, 'b');
  long.puts[1]?.done.resolve();
  await ended;
});
