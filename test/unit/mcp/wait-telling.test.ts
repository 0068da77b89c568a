import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Progress, waitTelling } from '@hotcell/mcp/wait-telling.ts';

/** A run that ends so many seconds after the first question; time passes only by waiting. */
async function wait({ seconds, ends, roomFor = Infinity }: { seconds: number; ends: number; roomFor?: number }) {
  let clock = 0;
  const [asked, told]: [number[], Progress[]] = [[], []];
  const view = await waitTelling({
    seconds,
    tell: async (progress) => void told.push(progress),
    ask: async (slice) => {
      const waited = asked.length < roomFor ? Math.min(slice, Math.max(0, ends - clock)) : 0;
      asked.push(slice);
      clock += waited;
      return clock >= ends ? 'finished' : 'running';
    },
    isOver: (seen) => seen === 'finished',
    says: (seen) => `it is ${seen}`,
    now: () => clock * 1000,
  });
  return { view, asked, told, clock };
}

test('a client that asks for no progress costs one request', async () => {
  const asked: number[] = [];
  const ask = async (seconds: number) => asked.push(seconds);
  await waitTelling({ seconds: 30, tell: undefined, ask, isOver: () => false, says: () => '' });
  assert.deepEqual(asked, [30]);
});

test('progress grows with each message and never past the wait', async () => {
  const { view, told, asked, clock } = await wait({ seconds: 20, ends: 100 });
  assert.equal(view, 'running');
  assert.equal(clock, 20);
  assert.deepEqual(asked, [1, 2, 4, 8, 5]);
  assert.deepEqual(
    told.map(({ waited, of, message }) => [waited, of, message]),
    [1, 3, 7, 15].map((waited) => [waited, 20, 'it is running']),
  );
});

test('the end is answered as soon as it is there, without another message', async () => {
  const { view, told, clock } = await wait({ seconds: 60, ends: 2 });
  assert.deepEqual([view, told.length, clock], ['finished', 1, 2]);
});

test('where the API has no room for a wait, it is not asked again and again', async () => {
  const { view, asked } = await wait({ seconds: 60, ends: 100, roomFor: 2 });
  assert.deepEqual([view, asked.length], ['running', 3]);
});

test('without a time to wait, it asks once', async () => {
  assert.deepEqual((await wait({ seconds: 0, ends: 100 })).asked, [0]);
});
