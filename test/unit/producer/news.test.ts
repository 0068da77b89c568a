import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as breathe } from 'node:timers/promises';
import type { LiveEvent } from '@hotcell/contract/heartbeats.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { News } from '@hotcell/producer/news.ts';
import type { Change } from '@hotcell/producer/readmodel/run-changes.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';

const at = '2026-01-01T00:00:00.000Z';
const run = newRunId();
type Status = Extract<LiveEvent, { type: 'status' }>;
const event = (status: Status['status'], of = run, more: Partial<Status> = {}): Status => ({
  ...{ type: 'status', run: of, tenant: 't', status, at, ...more },
});

/** News whose messages are the test's. Nothing here reads the bucket. */
async function hear(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const on: { event: (event: LiveEvent) => void; reconnected: () => void } = { event: () => {}, reconnected: () => {} };
  const noted: Change[] = [];
  const left: string[] = [];
  const leaving = (what: string) => ({ [Symbol.dispose]: () => void left.push(what) });
  const news = await News.open({
    live: {
      onEvent: async (listener) => {
        on.event = listener;
        return leaving('events');
      },
      onReconnected: (listener) => {
        on.reconnected = listener;
        return leaving('connection');
      },
    },
    store: {} as Buckets,
    model: { note: (change) => noted.push(change) },
  });
  return { news, on, noted, left };
}
const never = new AbortController().signal;
async function isWoken(waits: Promise<unknown>): Promise<boolean> {
  const nothing = Symbol();
  for (let i = 0; i < 3; i++) await breathe();
  return (await Promise.race([waits, Promise.resolve(nothing)])) !== nothing;
}

test('an event wakes the listeners of its run, with all that they have not taken', async (t) => {
  const { news, on } = await hear(t);
  using listener = news.listen(run);
  using other = news.listen(newRunId());
  const others = other.next(never);
  on.event(event('staging'));
  on.event(event('running'));
  assert.deepEqual(
    (await listener.next(never)).map(({ status }) => status),
    ['staging', 'running'],
  );
  assert.equal(await isWoken(others), false);
  const next = listener.next(never);
  assert.equal(await isWoken(next), false);
  on.event(event('finished'));
  assert.deepEqual(await next, [event('finished')]);
});

test('a slow listener is left the newest events', async (t) => {
  const { news, on } = await hear(t);
  using listener = news.listen(run);
  for (let i = 0; i < 1_000; i++) on.event(event('running'));
  on.event(event('finished'));
  const told = await listener.next(never);
  assert.ok(told.length > 1 && told.length < 100, `${told.length} were kept`);
  assert.equal(told.at(-1)?.status, 'finished');
});

test('a wait ends with its signal, also when that was aborted before', async (t) => {
  const { news } = await hear(t);
  using listener = news.listen(run);
  const leaves = new AbortController();
  const waits = listener.next(leaves.signal);
  leaves.abort();
  assert.deepEqual(await waits, []);
  assert.deepEqual(await listener.next(AbortSignal.abort()), []);
});

test('after a reconnection every listener looks for itself: events may have been missed', async (t) => {
  const { news, on } = await hear(t);
  using one = news.listen(run);
  using other = news.listen(newRunId());
  const both = [one, other].map((listener) => listener.next(never));
  on.reconnected();
  assert.deepEqual(await Promise.all(both), [[], []]);
});

test('every run is looked at again in turn, a few at once', async (t) => {
  const { news } = await hear(t);
  const waits = Array.from({ length: 50 }, () => news.listen(newRunId()).next(never));
  const woken = async () => (await Promise.all(waits.map(isWoken))).filter(Boolean).length;
  t.mock.timers.tick(2_000);
  const first = await woken();
  assert.ok(first > 0 && first < 50, `${first} were woken at once`);
  t.mock.timers.tick(2_000);
  assert.equal(await woken(), 50);
});

test('a listener that left is not woken, and another of the same run is', async (t) => {
  const { news, on } = await hear(t);
  const leaves = news.listen(run);
  using stays = news.listen(run);
  const [gone, there] = [leaves.next(never), stays.next(never)];
  leaves[Symbol.dispose]();
  on.event(event('running'));
  assert.equal((await there).length, 1);
  assert.equal(await isWoken(gone), false);
});

test('the lists hear of every step, and of an end with its outcome', async (t) => {
  const { on, noted } = await hear(t);
  on.event(event('running'));
  on.event(event('finished', run, { outcome: 'failed' }));
  on.event(event('finished'));
  on.event({ type: 'drain', worker: 'w' });
  assert.deepEqual(noted, [
    { kind: 'progressed', tenant: 't', run, status: 'running' },
    { kind: 'ended', tenant: 't', run, outcome: 'failed', at },
  ]);
});

test('at the end it leaves what it heard from, and wakes those who wait', async (t) => {
  const { news, left } = await hear(t);
  const waits = news.listen(run).next(never);
  news[Symbol.dispose]();
  assert.deepEqual(await waits, []);
  assert.deepEqual(left.toSorted(), ['connection', 'events']);
});
