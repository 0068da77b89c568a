import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkerBeat } from '@hotcell/contract/heartbeats.ts';
import { hasRoom } from '@hotcell/executor-worker/pull/other-workers.ts';

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

test('room elsewhere is room in everything, at a worker that takes from this queue now', () => {
  assert.equal(hasRoom(idle, 'runc', fits), true);
  assert.equal(hasRoom(idle, 'gvisor', fits), false);
  assert.equal(hasRoom({ ...idle, state: 'draining' }, 'runc', fits), false);
  assert.equal(hasRoom(idle, 'runc', { ...fits, cpus: 1.5 }), false);
  assert.equal(hasRoom(idle, 'runc', { ...fits, memoryBytes: 601 }), false);
  assert.equal(hasRoom({ ...idle, used: { ...idle.used, runs: 4 } }, 'runc', fits), false);
});

test('who wants more CPU than a worker has is taken by one that is idle', () => {
  const asked = { cpus: 8, memoryBytes: 1 };
  assert.equal(hasRoom(idle, 'runc', asked), false);
  assert.equal(hasRoom({ ...idle, used: { cpus: 0, memoryBytes: 0, runs: 0 } }, 'runc', asked), true);
});
