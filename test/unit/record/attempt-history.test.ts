import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newRunId } from '@hotcell/contract/names.ts';
import type { AttemptRecord, Claim } from '@hotcell/record/schemas.ts';
import { historyOf, noHistory } from '@hotcell/record/attempt-history.ts';

const run = newRunId();
const at = '2026-01-01T00:00:00.000Z';
const claim = (attempt: number): Claim => ({
  version: 1,
  run,
  attempt,
  worker: `w${attempt}`,
  nonce: 'n',
  startedAt: at,
});
const record = (attempt: number, more: Partial<AttemptRecord> = {}): AttemptRecord => ({
  version: 1,
  run,
  attempt,
  worker: `w${attempt}`,
  startedAt: at,
  finishedAt: at,
  error: { code: 'cell_failed', message: 'the cell died' },
  handedBack: false,
  ...more,
});

test('a claim without an end is an attempt whose worker died, and it counts', () => {
  const history = historyOf([claim(1)], [undefined]);
  assert.equal(history.failed, 1);
  assert.equal(history.next, 2);
  assert.equal(history.attempts[0]?.error?.code, 'worker_gone');
  assert.equal(history.attempts[0]?.finishedAt, null);
});

test('what was handed back counts neither as a failure of the platform nor as an end of the program', () => {
  const history = historyOf([claim(1), claim(2)], [record(1, { handedBack: true }), record(2)]);
  assert.deepEqual([history.failed, history.ended, history.next], [1, 0, 3]);
});

test('an attempt that the program ended counts for what its submitter asked, not against the platform', () => {
  const history = historyOf([claim(1)], [record(1, { outcome: 'failed' })]);
  assert.deepEqual([history.failed, history.ended], [0, 1]);
  assert.equal(history.attempts[0]?.outcome, 'failed');
});

test('a run without claims has no history, and its first attempt is next', () => {
  assert.deepEqual(historyOf([], []), noHistory);
  assert.deepEqual(noHistory, { attempts: [], failed: 0, ended: 0, next: 1 });
});
