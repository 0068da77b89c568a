import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitWorkers, unfitWorkers } from '@hotcell/executor-worker/pull/other-workers.ts';

const worker = (name: string, more: { state?: 'ready' | 'draining' | 'drained'; queues?: string[] } = {}) => ({
  name,
  state: more.state ?? 'ready',
  queues: more.queues ?? ['runc'],
});
const failed = (name: string, code: string) => ({ worker: name, error: { code, message: 'it failed' } });

test('a worker whose cell was not what the policy says is unfit for the run; any other failure makes none', () => {
  const attempts = [failed('a', 'posture_differs'), failed('b', 'cell_failed'), { worker: 'c' }];
  assert.deepEqual([...unfitWorkers(attempts)], ['a']);
});

test('fit is who takes the queue, is ready, and has not failed the run so', () => {
  const workers = [
    worker('here'),
    worker('failed'),
    worker('leaving', { state: 'draining' }),
    worker('gone', { state: 'drained' }),
    worker('of-another-queue', { queues: ['gvisor'] }),
    worker('fit', { queues: ['gvisor', 'runc'] }),
  ];
  assert.deepEqual(fitWorkers(workers, 'runc', new Set(['here', 'failed'])), ['fit']);
  assert.deepEqual(fitWorkers(workers, 'gpu', new Set()), []);
});
