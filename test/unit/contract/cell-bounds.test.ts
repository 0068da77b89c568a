import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  cellCpus,
  cellMemory,
  cellPids,
  cellTakes,
  cpuPeriodUs,
  cpuQuotaUs,
  initRlimits,
  rlimitsOf,
  settableRlimits,
  tmpfsOf,
  tmpfsOptions,
} from '@hotcell/contract/cell-bounds.ts';
import { pageBytes } from '@hotcell/contract/page.ts';
import fc from 'fast-check';
import { testLimits } from '../../support/limits.ts';

const mib = 1024 * 1024;
const plans = (['runc', 'gvisor'] as const).map((runtime) => ({ runtime, limits: testLimits }));
const [runc, gvisor] = plans as [(typeof plans)[0], (typeof plans)[0]];
const named = (rlimits: readonly { name: string; value: number }[]) =>
  Object.fromEntries(rlimits.map(({ name, value }) => [name, value]));

test('gVisor’s own memory and what stands beside a cell come on top of what the job may use', () => {
  assert.equal(cellMemory(gvisor) - cellMemory(runc), 64 * mib);
  for (const plan of plans) {
    assert.deepEqual(cellTakes(plan), { cpus: testLimits.cpus, memoryBytes: cellMemory(plan) + 16 * mib });
    assert.equal(cellMemory(plan) % pageBytes, 0);
  }
});

test('a quota of CPU is never less than the kernel takes, and never more than the limit but for rounding', () => {
  assert.equal(cpuQuotaUs(0.05), 5_000);
  assert.equal(cpuQuotaUs(0.001), 1_000);
  assert.equal(cpuQuotaUs(2), 2 * cpuPeriodUs);
  fc.assert(
    fc.property(fc.double({ min: 0.05, max: 256, noNaN: true }), (cpus) => {
      assert.ok(Math.abs(cpuQuotaUs(cpus) - cpus * cpuPeriodUs) <= 0.5);
      assert.ok(cellCpus({ cpus }) >= cpus && cellCpus({ cpus }) < cpus + 1);
    }),
  );
});

test('a cell has room for init beside the job, and a sandbox for two tasks of its host for each of the job’s', () => {
  assert.ok(cellPids(runc) > testLimits.pids);
  assert.ok(cellPids(runc) < 2 * testLimits.pids);
  assert.ok(cellPids(gvisor) > 2 * testLimits.pids);
});

test('every tmpfs has a size and a number of inodes, since 0 would be no bound', () => {
  const least = { ...testLimits, scratchBytes: 0, outputBytes: 0, outputFiles: 0, scratchInodes: 1 };
  for (const { bytes, inodes } of Object.values(tmpfsOf(least))) {
    assert.ok(bytes >= pageBytes && bytes % pageBytes === 0);
    assert.ok(inodes > 0);
  }
});

test('only /work may hold programs, and /outputs holds more than may be kept', () => {
  const all = tmpfsOf(testLimits);
  assert.deepEqual(
    Object.entries(all).map(([path, { exec }]) => [path, exec]),
    [
      ['/work', true],
      ['/outputs', false],
      ['/tmp', false],
      ['/dev/shm', false],
    ],
  );
  assert.ok(all['/outputs'].bytes > testLimits.outputBytes);
  assert.ok(all['/outputs'].inodes > 2 * testLimits.outputFiles);
  assert.equal(all['/tmp'].bytes, testLimits.scratchBytes);
  assert.deepEqual(tmpfsOptions(all['/work']), [
    ...['exec', 'nosuid', 'nodev', `size=${testLimits.scratchBytes}`, `nr_inodes=${testLimits.scratchInodes}`],
    'mode=1777',
  ]);
  assert.equal(tmpfsOptions(all['/tmp'])[0], 'noexec');
});

test('a job can neither lock memory, queue messages, nor raise its priority, and has the limits of its policy', () => {
  const { pids, openFiles, fileBytes } = testLimits;
  const rest = { core: 1, memlock: 0, msgqueue: 0, rtprio: 0, nice: 0 };
  assert.deepEqual(named(rlimitsOf(testLimits)), {
    ...{ nproc: pids, nofile: openFiles, fsize: fileBytes, sigpending: 256 },
    ...rest,
  });
  assert.equal(named(rlimitsOf({ ...testLimits, pids: 1000 }))['sigpending'], 1000);
});

test('init sets what its runtime lets a process set, and keeps the job’s own bounds off itself', () => {
  const names = (rlimits: readonly { name: string }[]) => rlimits.map(({ name }) => name);
  const all = names(rlimitsOf(testLimits));
  assert.deepEqual(
    names(settableRlimits(runc)),
    all.filter((name) => name !== 'core'),
  );
  assert.deepEqual(names(settableRlimits(gvisor)), ['nproc', 'nofile', 'fsize', 'memlock']);
  assert.deepEqual(
    names(initRlimits(testLimits)),
    all.filter((name) => name !== 'fsize' && name !== 'nproc'),
  );
});
