import assert from 'node:assert/strict';
import { setImmediate as breathe } from 'node:timers/promises';
import { test } from 'node:test';
import type { CellBeat } from '@hotcell/contract/heartbeats.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import type { SealedCell } from '@hotcell/executor-worker/cell/sealed-cell.ts';
import { Holdings } from '@hotcell/executor-worker/holdings.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { noInputs } from '../../support/echo.ts';

const run = newRunId();

/** A worker's books, and what is released in which order. */
function host() {
  const released: string[] = [];
  const worker = {
    cells: new Map<string, CellBeat>(),
    leaving: new Set<Promise<void>>(),
    log: openLog('test', 'silent'),
  };
  const destroyed = Promise.withResolvers<void>();
  const cell = {
    ...{ id: 'c1', container: 'hotcell-c1' },
    destroy: async () => {
      await destroyed.promise;
      released.push('cell');
    },
  } as unknown as SealedCell;
  const holdings = new Holdings(worker);
  holdings.room = { [Symbol.dispose]: () => void released.push('room') };
  holdings.staged = {
    ...noInputs,
    [Symbol.asyncDispose]: async () => void released.push('inputs'),
  };
  return { released, worker, destroyed, cell, holdings };
}
const never = new AbortController().signal;

test('what a run holds is released behind its cell: the inputs, then the room', async () => {
  const { released, worker, destroyed, cell, holdings } = host();
  await holdings.holdCell(Promise.resolve(cell), run, never);
  assert.deepEqual(worker.cells.get('c1'), { id: 'c1', container: 'hotcell-c1', state: 'busy', run });
  holdings[Symbol.dispose]();
  await breathe();
  assert.equal(worker.cells.get('c1')?.state, 'destroying');
  assert.deepEqual(released, []);
  assert.equal(worker.leaving.size, 1, 'a worker that drains waits for it');
  destroyed.resolve();
  await Promise.all(worker.leaving);
  assert.deepEqual(released, ['cell', 'inputs', 'room']);
  assert.deepEqual([worker.cells.size, worker.leaving.size], [0, 0]);
});

test('a cell that comes after its run was stopped is destroyed all the same', async () => {
  const { released, worker, destroyed, cell, holdings } = host();
  const sealing = Promise.withResolvers<SealedCell>();
  const stop = new AbortController();
  const held = holdings.holdCell(sealing.promise, run, stop.signal);
  stop.abort(new Error('stopped'));
  await assert.rejects(held, /stopped/);
  holdings[Symbol.dispose]();
  await breathe();
  assert.deepEqual(released, []);
  sealing.resolve(cell);
  destroyed.resolve();
  await Promise.all(worker.leaving);
  assert.deepEqual(released, ['cell', 'inputs', 'room']);
});

test('without a cell everything is released at once, also where none could be made', async () => {
  const { released, worker, holdings } = host();
  await assert.rejects(holdings.holdCell(Promise.reject(new Error('no cell')), run, never), /no cell/);
  holdings[Symbol.dispose]();
  await Promise.all(worker.leaving);
  assert.deepEqual(released, ['inputs', 'room']);
});

test('what of a cell could not be removed keeps the inputs and the room held until it is gone', async () => {
  const { released, worker, destroyed, cell, holdings } = host();
  const gone = Promise.withResolvers<void>();
  await holdings.holdCell(Promise.resolve(cell), run, never);
  holdings.left(gone.promise);
  holdings[Symbol.dispose]();
  destroyed.reject(new Error('busy'));
  await Promise.all(worker.leaving);
  assert.deepEqual(released, []);
  gone.resolve();
  await breathe();
  assert.deepEqual(released, ['inputs', 'room']);
});

test('the room is given back although the inputs cannot be removed', async () => {
  const { released, worker, holdings } = host();
  holdings.staged = {
    ...noInputs,
    [Symbol.asyncDispose]: () => Promise.reject(new Error('busy')),
  };
  holdings[Symbol.dispose]();
  await Promise.all(worker.leaving);
  assert.deepEqual(released, ['room']);
});
