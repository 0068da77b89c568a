import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogRow } from '@hotcell/contract/log-rows.ts';
import { StepLog } from '@hotcell/executor-worker/session/step-log.ts';

const at = '2026-11-19T12:00:00.000Z';
const row = (seq: number, text: string): LogRow => ({ seq, at, block: 3, stream: 'stderr', text });
const end = { at, block: 3 };
const mark = (seq: number, dropped: number): LogRow => ({ seq, at, block: 3, stream: 'stdout', dropped });

test('a step’s log that is short is kept whole, without a mark', () => {
  const log = new StepLog();
  const rows = [row(5, 'é'), row(6, 'b')];
  log.add(rows);
  const kept = log.finish(3, end);
  assert.deepEqual(kept.rows, rows);
  assert.equal(kept.text, rows.map((one) => `${JSON.stringify(one)}\n`).join(''));
});

test('of a long one the beginning and the end are kept, and what is between them is counted', () => {
  const log = new StepLog(200);
  for (let seq = 0; seq < 100; seq++) log.add([row(seq, 'xx')]);
  const { rows, text } = log.finish(200, end);
  assert.equal(rows[0]?.seq, 0);
  assert.equal(rows.at(-1)?.seq, 99);
  const kept = rows.filter(({ dropped }) => dropped === undefined).length;
  const marks = rows.filter(({ dropped }) => dropped !== undefined);
  assert.deepEqual(
    marks.map(({ dropped }) => dropped),
    [200 - 2 * kept],
  );
  assert.ok(kept > 1 && text.length < 600);
  assert.deepEqual(
    rows.map(({ seq }) => seq),
    rows.map(({ seq }) => seq).toSorted((a, b) => a - b),
  );
});

test('control characters, which are long as text, are bounded as text', () => {
  const log = new StepLog();
  for (let seq = 0; seq < 200; seq++) log.add([row(seq, '\u0001'.repeat(64 * 1024))]);
  assert.ok(log.finish(200 * 64 * 1024, end).text.length < 5 * 1024 ** 2);
});

test('bytes that were never heard of, past the session’s limit, are marked at the end', () => {
  assert.deepEqual(new StepLog().finish(7, end).rows, [mark(0, 7)]);
  const log = new StepLog();
  log.add([row(4, 'abc')]);
  assert.deepEqual(log.finish(10, end).rows, [row(4, 'abc'), mark(5, 7)]);
});
