import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { noHistory } from '@hotcell/record/attempt-history.ts';
import { judgeRun } from '@hotcell/executor-worker/pull/judge.ts';
import type { Specified } from '@hotcell/executor-worker/stages.ts';

import { echoQueue, echoSteps } from '../../support/echo.ts';
import { specFor } from '../../support/spec.ts';

const at = '2026-01-01T00:00:00.000Z';

function inQueue(queue: string): Specified {
  const spec = { ...specFor('tests', ''), run: newRunId(), acceptedAt: at };
  const { run, tenant } = spec;
  const about = { installation: 'i', run, tenant, spec: sha256(''), queue };
  return {
    at: 'specified',
    ticket: { version: 2, key: '0'.repeat(16), ...about, issuedAt: at, expiresAt: at },
    history: noHistory,
    spec,
  };
}

test('a run is judged in the queue that its policy requires', async () => {
  assert.equal((await judgeRun({ steps: echoSteps }, inQueue(echoQueue))).effective.queue, echoQueue);
});

test('a ticket that was moved to another queue is refused, with both queues', async () => {
  await assert.rejects(judgeRun({ steps: echoSteps }, inQueue('gvisor')), {
    code: 'record_damaged',
    message: /the queue gvisor, but its policy requires echo/,
  });
});
