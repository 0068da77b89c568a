import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { lostReason, noEarlierThan, resultWithout } from '@hotcell/executor-worker/publish/attempt-result.ts';
import type { Attempted, Stage } from '@hotcell/executor-worker/stages.ts';
import { noHistory } from '@hotcell/record/attempt-history.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
const time = (second: number) => at(second).toISOString();
const run = newRunId(at(0).getTime());
const ticket = {
  version: 2,
  key: '0'.repeat(16),
  installation: 'i',
  run,
  tenant: 't',
  spec: sha256('spec'),
  queue: 'runc',
  issuedAt: time(0),
  expiresAt: time(59),
} as const;
const ticketed: Stage = { at: 'ticketed', ticket, history: noHistory };
const claimedAt = (second: number): Attempted => ({
  ...ticketed,
  claim: { version: 1, run, attempt: 2, worker: 'w2', nonce: 'n', startedAt: time(second) },
  history: {
    ...noHistory,
    attempts: [
      { attempt: 1, worker: 'w1', startedAt: time(1), finishedAt: time(2), error: { code: 'x', message: 'It broke.' } },
    ],
  },
});
const lost = { outcome: 'lost', reason: 'because' } as const;

test('a run that never began was queued until its end, and has no attempt', () => {
  const result = resultWithout(ticketed, lost, at(9));
  assert.deepEqual([result.timings.queuedMs, result.timings.finishedAt, result.attempts], [9_000, time(9), []]);
  assert.deepEqual([result.limits, result.posture], [null, null]);
});

test('a run that was claimed was queued until then, and its last attempt is this one', () => {
  const error = { code: 'cell_failed', message: 'no' };
  const { timings, attempts } = resultWithout(claimedAt(3), { ...lost, error }, at(9));
  assert.equal(timings.queuedMs, 3_000);
  assert.deepEqual(
    attempts.map(({ attempt, worker, outcome, finishedAt }) => [attempt, worker, outcome, finishedAt]),
    [
      [1, 'w1', undefined, time(2)],
      [2, 'w2', 'lost', time(9)],
    ],
  );
  assert.deepEqual(attempts[1]?.error, error);
  assert.ok(!('error' in (resultWithout(claimedAt(3), lost, at(9)).attempts[1] ?? {})));
});

test('nothing ends before it began, whatever the clocks of two hosts say', () => {
  const { timings, attempts } = resultWithout(claimedAt(20), lost, at(9));
  assert.deepEqual([timings.finishedAt, attempts[1]?.finishedAt], [time(20), time(20)]);
  assert.equal(noEarlierThan(at(5), time(4), undefined, time(6)), time(6));
  assert.equal(noEarlierThan(at(5)), time(5));
});

test('a run that was given up says why each attempt failed', () => {
  const reason = lostReason(claimedAt(3), { code: 'x', message: 'It broke again.' });
  assert.match(reason, /attempt 1 on w1: It broke; attempt 2 on w2: It broke again\. Submit it again with POST /);
  assert.match(lostReason(claimedAt(3), undefined), /: attempt 1 on w1: It broke\. Submit it again/);
});
