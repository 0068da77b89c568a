import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Limits, limitNames, limitTable } from '@hotcell/contract/limits.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { cellMemory, settableRlimits, tmpfsOf } from '@hotcell/contract/cell-bounds.ts';
import { jobLimitsOf } from '@hotcell/executor-worker/cell/cell-times.ts';
import { type CellSite, containerOptions } from '@hotcell/executor-worker/cell/options.ts';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import { testLimits } from '../../../support/limits.ts';

const mib = 1024 * 1024;
const limits: Limits = {
  ...testLimits,
  blockTimeoutSeconds: 30,
  memoryBytes: 512 * mib,
  cpus: 1.5,
  outputBytes: 10 * mib,
  outputFiles: 10,
  scratchBytes: 50 * mib,
  scratchInodes: 5000,
};
const planOf = (more: Partial<CellPlan> = {}): CellPlan => ({
  run: newRunId(),
  attempt: 2,
  runtime: 'runc',
  image: { ref: 'some:1', digest: `sha256:${'a'.repeat(64)}` },
  limits,
  log: { headBytes: 1000, tailBytes: 100, pastLimit: 'truncate' },
  mounts: [
    { source: '/srv/x/tree', target: '/inputs' },
    { source: '/srv/x/a', target: '/inputs/a' },
  ],
  env: { A: '1' },
  imageEnv: [],
  seccomp: {},
  ...more,
});
const site: CellSite = {
  id: '0123456789abcdef',
  uid: 12_345,
  installation: 'test',
  worker: 'w1',
  createdAt: new Date('2026-01-01T00:00:00Z'),
  imageId: `sha256:${'b'.repeat(64)}`,
  imageVariables: ['PATH', 'LD_PRELOAD'],
  files: [{ source: '/srv/hotcell/init/cell-init', target: '/cell-init' }],
  disks: { disks: ['/dev/sda'], bytesPerSecond: 1_000_000 },
  seccomp: '{}',
};
const hostOf = (plan: CellPlan) => {
  const { HostConfig } = containerOptions(plan, site);
  assert.ok(HostConfig);
  return HostConfig;
};

describe('a cell’s container', () => {
  const options = containerOptions(planOf(), site);
  const host = hostOf(planOf());

  test('has no network at all', () => {
    assert.equal(host.NetworkMode, 'none');
    assert.equal(options.NetworkDisabled, true);
  });
  test('has a read-only root, no new privileges, and init’s four capabilities', () => {
    assert.equal(host.ReadonlyRootfs, true);
    assert.equal(host.Privileged, false);
    assert.deepEqual(host.CapDrop, ['ALL']);
    assert.deepEqual(host.CapAdd, ['KILL', 'SETGID', 'SETPCAP', 'SETUID']);
    assert.deepEqual(host.SecurityOpt, ['no-new-privileges', 'seccomp={}']);
  });
  test('runs our init and nothing of the image: no command, no health check, no user, no variable', () => {
    assert.deepEqual(options.Entrypoint, ['/cell-init']);
    assert.deepEqual(options.Cmd, []);
    assert.deepEqual(options.Healthcheck, { Test: ['NONE'] });
    assert.equal(options.User, '0:0');
    assert.deepEqual(options.Env, ['PATH', 'LD_PRELOAD'], 'a name without a value takes the variable away');
  });
  test('mounts everything of the host read-only', () => {
    const mounts = host.Mounts ?? [];
    assert.deepEqual(
      mounts.map(({ Target }) => Target),
      ['/cell-init', '/inputs', '/inputs/a'],
    );
    assert.ok(mounts.every(({ ReadOnly, Type }) => ReadOnly === true && Type === 'bind'));
  });
  test('has bounded scratch, and runs programs from /work alone', () => {
    assert.deepEqual(host.Tmpfs, {
      '/work': 'rw,exec,nosuid,nodev,size=52428800,nr_inodes=5000,mode=1777',
      '/outputs': 'rw,noexec,nosuid,nodev,size=11534336,nr_inodes=1044,mode=1777',
      '/tmp': 'rw,noexec,nosuid,nodev,size=52428800,nr_inodes=5000,mode=1777',
      '/dev/shm': 'rw,noexec,nosuid,nodev,size=52428800,nr_inodes=5000,mode=1777',
    });
  });
  test('has no swap, and the CPU, memory and processes of its limits', () => {
    assert.equal(host.Memory, 512 * mib);
    assert.equal(host.MemorySwap, host.Memory);
    assert.deepEqual([host.CpuPeriod, host.CpuQuota], [100_000, 150_000]);
    assert.ok((host.PidsLimit ?? 0) > limits.pids, 'init keeps a reserve');
  });
  test('uses the host’s disks no faster than its bound', () => {
    assert.deepEqual(host.BlkioDeviceReadBps, [{ Path: '/dev/sda', Rate: 1_000_000 }]);
    assert.deepEqual(host.BlkioDeviceWriteBps, host.BlkioDeviceReadBps);
    assert.deepEqual(host.BlkioDeviceReadIOps, [{ Path: '/dev/sda', Rate: 61 }]);
    assert.deepEqual(host.BlkioDeviceWriteIOps, host.BlkioDeviceReadIOps);
  });
  test('names its worker and its deadline in labels that no image can override', () => {
    const labels = options.Labels ?? {};
    assert.equal(labels['hotcell.managed'], '1');
    assert.equal(labels['hotcell.installation'], 'test');
    assert.equal(labels['hotcell.role'], 'cell');
    assert.equal(labels['hotcell.worker'], 'w1');
    assert.equal(labels['hotcell.attempt'], '2');
    const { timeoutSeconds, graceSeconds } = limits;
    const least = site.createdAt.getTime() + (timeoutSeconds + graceSeconds) * 1000;
    assert.ok(Date.parse(labels['hotcell.deadline'] ?? '') > least);
  });
  test('has the same host name everywhere, without an id in it', () => {
    assert.equal(options.Hostname, 'cell');
    const text = JSON.stringify({ ...options, Labels: {} });
    assert.doesNotMatch(text, /0123456789abcdef/);
  });
  test('ends with the connection that is attached to it', () => {
    assert.deepEqual([options.OpenStdin, options.StdinOnce, options.Tty], [true, true, false]);
    assert.deepEqual(host.LogConfig, { Type: 'none', Config: {} });
    assert.deepEqual(host.RestartPolicy, { Name: 'no' });
    assert.equal(host.AutoRemove, false);
  });
  test('on gVisor has that runtime, and memory for its kernel besides the job’s', () => {
    const gvisor = hostOf(planOf({ runtime: 'gvisor' }));
    assert.equal(gvisor.Runtime, 'runsc');
    assert.ok((gvisor.Memory ?? 0) > limits.memoryBytes);
    assert.ok((gvisor.PidsLimit ?? 0) > 1000);
  });
});

describe('whatever a policy allows', () => {
  const anyLimits = fc.record(
    Object.fromEntries(
      limitNames.map((name) => {
        const { min, max } = limitTable[name];
        return [name, name === 'cpus' ? fc.double({ min, max, noNaN: true }) : fc.integer({ min, max })];
      }),
    ),
  ) as fc.Arbitrary<Limits>;
  const runtimes = fc.constantFrom('runc', 'gvisor');

  test('every bound of a cell is set, and none is zero or unlimited', () => {
    fc.assert(
      fc.property(anyLimits, runtimes, (some, runtime) => {
        const host = hostOf(planOf({ limits: some, runtime }));
        for (const { bytes, inodes } of Object.values(tmpfsOf(some)))
          assert.ok(bytes >= 4096 && bytes % 4096 === 0 && inodes >= 1);
        assert.ok((host.CpuQuota ?? 0) >= 1000);
        assert.ok((host.PidsLimit ?? 0) > some.pids);
        assert.equal(host.MemorySwap, host.Memory);
        assert.equal(host.Memory, cellMemory(planOf({ limits: some, runtime })));
      }),
    );
  });
  test('init can set every limit of the job: none is above the container’s own', () => {
    fc.assert(
      fc.property(anyLimits, runtimes, (some, runtime) => {
        const plan = planOf({ limits: some, runtime });
        const ulimits = new Map((hostOf(plan).Ulimits ?? []).map(({ Name, Hard }) => [Name, Hard]));
        for (const { name, value } of settableRlimits(plan))
          assert.ok(value <= (ulimits.get(name) ?? Number.MAX_VALUE));
      }),
    );
  });
  test('init’s own deadline comes after the job’s limit and grace', () => {
    fc.assert(
      fc.property(anyLimits, (some) => {
        const { runMs, graceMs, lifetimeMs } = jobLimitsOf(planOf({ limits: some }));
        assert.ok(lifetimeMs >= runMs + graceMs + 60_000);
      }),
    );
  });
});
