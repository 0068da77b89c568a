import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndedBlock } from '@hotcell/executor-worker/cell/sealed-cell.ts';
import { BlockBook } from '@hotcell/executor-worker/execute/block-book.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
const shown = (second: number) => at(second).toISOString();
const blocks = [0, 1, 2].map((index) => ({
  index,
  block: { argv: ['x'] },
  language: 'python',
  file: `b${index}.py`,
  code: null,
  argv: ['python3'],
}));
const ended = (index: number, more: Partial<EndedBlock> = {}): EndedBlock => ({
  index,
  exitCode: 0,
  signal: null,
  startError: null,
  timedOut: false,
  oomKills: 0,
  killedByHost: false,
  networkTries: 0,
  wallMs: 1,
  cpuMs: 2,
  peakMemoryBytes: 3,
  logBytes: 4,
  ...more,
});
const outcomes = (book: BlockBook) => book.results.map(({ outcome }) => outcome);

test('a block that never ran has neither times nor an outcome', () => {
  const book = new BlockBook(blocks);
  book.started(0, at(1));
  book.end(ended(0), at(2));
  const [first, second] = book.results;
  assert.deepEqual(
    [first?.startedAt, first?.finishedAt, first?.outcome, first?.exitCode],
    [shown(1), shown(2), 'succeeded', 0],
  );
  assert.deepEqual(first?.usage, { wallMs: 1, cpuMs: 2, peakMemoryBytes: 3, logBytes: 4 });
  assert.deepEqual(second, {
    index: 1,
    language: 'python',
    file: 'b1.py',
    exitCode: null,
    signal: null,
    outcome: null,
    startedAt: null,
    finishedAt: null,
  });
});

for (const [how, more, outcome] of [
  ['a time limit', { timedOut: true, exitCode: null, signal: 9 }, 'timed_out'],
  ['a failed start', { startError: 'no program', exitCode: null }, 'failed'],
  ['another exit code', { exitCode: 1 }, 'failed'],
  ['a kill for memory', { exitCode: null, signal: 9, oomKills: 1 }, 'out_of_memory'],
  ['an exit code of 0 after a kill of another process', { oomKills: 1 }, 'succeeded'],
] as const)
  test(`a block that ends with ${how} is ${outcome}`, () => {
    const book = new BlockBook(blocks);
    book.end(ended(0, more), at(1));
    assert.deepEqual(outcomes(book), [outcome, null, null]);
    assert.equal(book.results[0]?.signal, 'signal' in more ? 'SIGKILL' : null);
  });

test('a kill that is learned of after the end changes the outcome of a failed block, and counts as one', () => {
  const book = new BlockBook(blocks);
  book.end(ended(0, { exitCode: 1 }), at(1));
  book.end(ended(1, { exitCode: 1, oomKills: 3 }), at(2));
  book.killedForMemory(0, false);
  book.killedForMemory(1, false);
  book.killedForMemory(2, false);
  assert.deepEqual(outcomes(book), ['out_of_memory', 'out_of_memory', null]);
  assert.deepEqual(
    book.ended.map(({ oomKills }) => oomKills),
    [1, 3],
  );
});

test('the block that was open when the run ended has the run’s outcome and its end', () => {
  const book = new BlockBook(blocks);
  book.started(0, at(1));
  book.end(ended(0), at(2));
  book.started(1, at(3));
  book.close('cancelled', at(4));
  assert.deepEqual(outcomes(book), ['succeeded', 'cancelled', null]);
  assert.equal(book.results[1]?.finishedAt, shown(4));
});

for (const [outcome, exitCode, expected] of [
  ['cancelled', 0, 'cancelled'],
  ['output_exceeded', 0, 'succeeded'],
  ['output_exceeded', 1, 'output_exceeded'],
  ['failed', 1, 'failed'],
  ['succeeded', 0, 'succeeded'],
] as const)
  test(`a run that is ${outcome} behind a block with exit code ${exitCode} leaves that block ${expected}`, () => {
    const book = new BlockBook(blocks.slice(0, 1));
    book.started(0, at(1));
    book.end(ended(0, { exitCode }), at(2));
    book.close(outcome, at(3));
    assert.deepEqual(outcomes(book), [expected]);
    assert.equal(book.results[0]?.finishedAt, shown(2));
  });
