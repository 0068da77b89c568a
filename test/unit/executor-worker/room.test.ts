import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellTakes } from '@hotcell/contract/cell-bounds.ts';
import { RunId } from '@hotcell/contract/names.ts';
import { type Blocker, whoHolds } from '@hotcell/executor-worker/pull/blockers.ts';
import { Capacity } from '@hotcell/executor-worker/pull/capacity.ts';
import { whyItWaits } from '@hotcell/executor-worker/pull/room.ts';
import { testLimits } from '../../support/limits.ts';

const mib = 1024 ** 2;
const alone = { tenant: 'a', blockers: [] };
const never = new AbortController().signal;
const idle = () => new Capacity({ cpus: 2, memoryBytes: 512 * mib, runs: 2 }, () => {});
const small = { cpus: 1, memoryBytes: 64 * mib };

test('a run that waits for room says which room, how much it needs and how much is free', async () => {
  const capacity = idle();
  assert.equal(whyItWaits('vm', capacity, small, alone), undefined);
  using _half = await capacity.take({ cpus: 1.5, memoryBytes: 256 * mib }, never);
  const waits = (needs: typeof small) => whyItWaits('vm', capacity, needs, alone);
  assert.deepEqual(waits({ cpus: 4, memoryBytes: mib }), {
    code: 'no_room',
    message: 'Waiting for a free CPU on vm (needs 2, 0.5 is free).',
  });
  assert.equal(
    waits({ cpus: 0.1, memoryBytes: 512 * mib })?.message,
    'Waiting for free memory on vm (needs 512 MiB with its cell, 256 MiB is free).',
  );
  using _rest = await capacity.take({ cpus: 0.1, memoryBytes: mib }, never);
  assert.equal(
    waits({ cpus: 0.1, memoryBytes: mib })?.message,
    'Waiting on vm for another run to finish (it takes 2 at a time).',
  );
});

test('where nothing is free, the sentence says so', async () => {
  const capacity = idle();
  using _all = await capacity.take({ cpus: 2, memoryBytes: mib }, never);
  const waits = whyItWaits('vm', capacity, small, alone);
  assert.equal(waits?.message, 'Waiting for a free CPU on vm (needs 1, none is free).');
});

test('a run that fits but asked later waits behind the one that needs more room', async () => {
  const capacity = idle();
  using _taken = await capacity.take(small, never);
  const leaves = new AbortController();
  const big = capacity.take({ cpus: 2, memoryBytes: mib }, leaves.signal);
  assert.equal(
    whyItWaits('vm', capacity, { cpus: 0.1, memoryBytes: mib }, alone)?.message,
    'Waiting on vm behind a run that needs more room.',
  );
  leaves.abort(new Error('left'));
  await assert.rejects(big, /left/);
});

test('a cell takes more of its host than its job may use: gVisor’s own memory, and what is outside the cell', () => {
  const limits = { ...testLimits, cpus: 1.5, memoryBytes: 256 * mib };
  assert.deepEqual(cellTakes({ runtime: 'runc', limits }), { cpus: 1.5, memoryBytes: (256 + 16) * mib });
  assert.deepEqual(cellTakes({ runtime: 'gvisor', limits }), { cpus: 1.5, memoryBytes: (256 + 64 + 16) * mib });
});

test('a run that is too big for the worker says so, and what to do', () => {
  assert.deepEqual(whyItWaits('vm', idle(), { cpus: 1, memoryBytes: 1024 * mib }, alone), {
    code: 'too_big',
    message:
      'Worker vm gives runs at most 512 MiB of memory, and this one needs 1 GiB with what its cell takes itself. Start a bigger worker, or cancel the run.',
  });
});

const now = Date.parse('2026-11-19T10:00:10.000Z');
const blocker = (
  tenant: string,
  end: string,
  timeoutSeconds: number,
  status: 'running' | 'staging' = 'running',
): Blocker => ({
  beat: { tenant, run: RunId.parse(`01a1f563-2721-727f-8f82-3a99eb${end}`), status, since: '2026-11-19T10:00:00.000Z' },
  holds: { cpus: 1, memoryBytes: 256 * mib, timeoutSeconds },
});

test('a run that waits learns which run of its tenant ends first, what it holds and for how long', () => {
  const blockers = [blocker('a', '000001', 600), blocker('a', '000002', 64), blocker('b', '000003', 20)];
  assert.equal(
    whoHolds(blockers, 'a', 'cpus', now),
    ' Run …000002 holds 1 CPU, for at most 54 s. Other runs hold the rest.',
  );
  assert.equal(
    whoHolds(blockers.slice(0, 1), 'a', 'memoryBytes', now),
    ' Run …000001 holds 256 MiB, for at most 10 min.',
  );
  assert.equal(
    whoHolds([blocker('a', '000001', 64, 'staging')], 'a', 'runs', now),
    ' Run …000001 holds a place, for at most 64 s.',
  );
  assert.equal(whoHolds([blocker('a', '000001', 5)], 'a', 'cpus', now), ' Run …000001 holds 1 CPU, for at most 1 s.');
});

test('and of other tenants only that they hold it', () => {
  assert.equal(whoHolds([blocker('b', '000003', 20)], 'a', 'cpus', now), ' Runs of other tenants hold it.');
  assert.equal(whoHolds([], 'a', 'cpus', now), '');
});
