import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { patrol } from '@hotcell/executor-worker/cell/patrol.ts';
import { openLog } from '@hotcell/outside/process/log.ts';

const log = openLog('test', 'silent');
const times = { lookMs: 1_000, handOverMs: 5_000, silenceMs: 3_000, killMs: 2_000 };

/** A watch over a cell that is as the test says, in a time that the test moves. */
function watch(t: TestContext, kill: () => Promise<unknown> = async () => undefined) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const cell = { silentMs: 0, overAt: undefined as number | undefined, kills: 0, closes: 0 };
  const over = patrol(
    {
      ...{ log, container: 'c', silentMs: () => cell.silentMs, overAt: () => cell.overAt },
      kill: () => {
        cell.kills++;
        return kill();
      },
      close: () => void cell.closes++,
    },
    times,
  );
  return { cell, over, pass: (seconds: number) => t.mock.timers.tick(seconds * 1_000) };
}
const past = -1;
const future = Number.POSITIVE_INFINITY;

test('a cell that does not take its job in time is killed once, and then given up', (t) => {
  const { cell, over, pass } = watch(t);
  pass(4);
  assert.equal(cell.kills, 0);
  pass(1);
  assert.equal(cell.kills, 1);
  pass(1);
  assert.equal(over.gaveUp, false);
  pass(1);
  assert.deepEqual([cell.kills, cell.closes, over.gaveUp], [1, 1, true]);
  pass(60);
  assert.deepEqual([cell.kills, cell.closes], [1, 1]);
});

test('a cell whose job is over is killed only when it has been silent for long', (t) => {
  const { cell, pass } = watch(t);
  cell.overAt = past;
  pass(10);
  assert.equal(cell.kills, 0);
  cell.silentMs = 1_000;
  pass(2);
  // It sent something: the silence begins anew.
  cell.silentMs = 999;
  pass(1);
  cell.silentMs = 1_000;
  pass(2);
  assert.equal(cell.kills, 0);
  pass(1);
  assert.equal(cell.kills, 1);
});

test('a job that may still run is left alone, however silent it is', (t) => {
  const { cell, pass } = watch(t);
  cell.overAt = future;
  cell.silentMs = 10_000;
  pass(1_000);
  assert.deepEqual([cell.kills, cell.closes], [0, 0]);
});

test('the silence of a job while it runs is not counted when it should be over', (t) => {
  const { cell, pass } = watch(t);
  cell.overAt = future;
  cell.silentMs = 10_000;
  pass(100);
  cell.overAt = past;
  pass(2);
  assert.equal(cell.kills, 0);
  pass(1);
  assert.equal(cell.kills, 1);
});

test('a cell is given up as well if the engine does not kill it', (t) => {
  const { over, pass } = watch(t, () => Promise.reject(new Error('the engine hangs')));
  pass(7);
  assert.equal(over.gaveUp, true);
});

test('a watch that is over neither kills nor gives up', (t) => {
  const { cell, over, pass } = watch(t);
  over[Symbol.dispose]();
  pass(60);
  assert.deepEqual([cell.kills, cell.closes, over.gaveUp], [0, 0, false]);
});
