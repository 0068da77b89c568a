import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellTakes } from '@hotcell/contract/cell-bounds.ts';
import { Capacity } from '@hotcell/executor-worker/pull/capacity.ts';
import { whyItWaits } from '@hotcell/executor-worker/pull/room.ts';
import { testLimits } from '../../support/limits.ts';

const mib = 1024 ** 2;
const never = new AbortController().signal;
const idle = () => new Capacity({ cpus: 2, memoryBytes: 512 * mib, runs: 2 }, () => {});
const small = { cpus: 1, memoryBytes: 64 * mib };

test('a run that waits for room says which room, how much it needs and how much is free', async () => {
  const capacity = idle();
  assert.equal(whyItWaits('vm', capacity, small), undefined);
  using _half = await capacity.take({ cpus: 1.5, memoryBytes: 256 * mib }, never);
  const waits = (needs: typeof small) => whyItWaits('vm', capacity, needs);
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

test('a run that fits but asked later waits behind the one that needs more room', async () => {
  const capacity = idle();
  using _taken = await capacity.take(small, never);
  const leaves = new AbortController();
  const big = capacity.take({ cpus: 2, memoryBytes: mib }, leaves.signal);
  assert.equal(
    whyItWaits('vm', capacity, { cpus: 0.1, memoryBytes: mib })?.message,
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
  assert.deepEqual(whyItWaits('vm', idle(), { cpus: 1, memoryBytes: 1024 * mib }), {
    code: 'too_big',
    message:
      'Worker vm gives runs at most 512 MiB of memory, and this one needs 1 GiB with what its cell takes itself. Start a bigger worker, or cancel the run.',
  });
});
