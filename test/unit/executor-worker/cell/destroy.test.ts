import assert from 'node:assert/strict';
import { test } from 'node:test';
import { removeCell } from '@hotcell/executor-worker/cell/destroy.ts';
import { StuckCells } from '@hotcell/executor-worker/cell/stuck-cells.ts';

/** A cell whose removal is answered like this, one time after another. */
function cell(...answers: (boolean | Error)[]) {
  const left = [...answers];
  const remove = async () => {
    const answer = left.shift() ?? true;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { id: 'c1', name: 'hotcell-cell-1', remove, left };
}

test('a cell that goes at once is not reported', async () => {
  const stuck = new StuckCells();
  await removeCell(cell(true), { stuck }, []);
  assert.deepEqual(stuck.beats, []);
});

test('a cell that stays is tried once more for each pause, and reported with the reason until it is gone', async () => {
  const stuck = new StuckCells();
  const stays = cell(new Error('busy'), false, new Error('still busy'), true);
  await assert.rejects(removeCell(stays, { stuck }, [0, 0]), /still busy/);
  assert.equal(stays.left.length, 1);
  assert.deepEqual(stuck.beats, [
    { id: 'c1', container: 'hotcell-cell-1', state: 'destroying', problem: 'still busy' },
  ]);
  const gone = stuck.whenGone('c1');
  await removeCell(stays, { stuck }, []);
  await gone;
  assert.deepEqual(stuck.ids, []);
});

test('a cell that is there although its removal was asked for is not gone', async () => {
  const stuck = new StuckCells();
  await assert.rejects(removeCell(cell(false), { stuck }, []), /still there/);
  assert.deepEqual(stuck.ids, ['c1']);
  await stuck.whenGone('another');
});
