import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkerBeat } from '@hotcell/contract/heartbeats.ts';
import { fitWorkers, hasRoom, unfitWorkers } from '@hotcell/executor-worker/pull/other-workers.ts';

const worker = (name: string, more: { state?: 'ready' | 'draining' | 'drained'; queues?: string[] } = {}) => ({
  name,
  state: more.state ?? 'ready',
  queues: more.queues ?? ['runc'],
});
const failed = (name: string, code: string) => ({ worker: name, error: { code, message: 'it failed' } });

test('a worker whose cell was not what the policy requires is unfit for the run; another failure makes no worker unfit', () => {
  const attempts = [failed('a', 'posture_differs'), failed('b', 'cell_failed'), { worker: 'c' }];
  assert.deepEqual([...unfitWorkers(attempts)], ['a']);
});

test('a worker is fit if it is ready, takes the queue, and is not among the unfit', () => {
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

const at = '2026-11-18T10:00:00.000Z';
const idle: WorkerBeat = {
  name: 'other',
  host: 'h',
  state: 'ready',
  queues: ['runc'],
  capacity: { cpus: 2, memoryBytes: 1000, runs: 4 },
  used: { cpus: 1, memoryBytes: 400, runs: 1 },
  runs: [],
  cells: [],
  startedAt: at,
  at,
};
const fits = { cpus: 1, memoryBytes: 600 };

test('another worker has room if it is ready, takes the queue, and has enough of everything', () => {
  assert.equal(hasRoom(idle, 'runc', fits), true);
  assert.equal(hasRoom(idle, 'gvisor', fits), false);
  assert.equal(hasRoom({ ...idle, state: 'draining' }, 'runc', fits), false);
  assert.equal(hasRoom(idle, 'runc', { ...fits, cpus: 1.5 }), false);
  assert.equal(hasRoom(idle, 'runc', { ...fits, memoryBytes: 601 }), false);
  assert.equal(hasRoom({ ...idle, used: { ...idle.used, runs: 4 } }, 'runc', fits), false);
});

test('a run that wants more CPUs than a worker has fits on it if it is idle', () => {
  const needs = { cpus: 8, memoryBytes: 1 };
  assert.equal(hasRoom(idle, 'runc', needs), false);
  assert.equal(hasRoom({ ...idle, used: { cpus: 0, memoryBytes: 0, runs: 0 } }, 'runc', needs), true);
});
