import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { wantedLines } from '@hotcell/keeper/disks.ts';
import { type HostView, hostDifferences } from '@hotcell/keeper/outside-differences.ts';

const base = 1_000_000_000;
const ids = Array(4).fill(base).join(' ');
const view: HostView = {
  runtime: 'runc',
  base,
  status: {
    Uid: ids,
    Gid: ids,
    Groups: '',
    CapInh: '0000000000000000',
    CapPrm: '00000000000001e0',
    CapEff: '00000000000001e0',
    CapBnd: '00000000000001e0',
    CapAmb: '0000000000000000',
    NoNewPrivs: '1',
    Seccomp: '2',
  },
  ownNamespaces: ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user', 'uts'],
  isInCgroup: true,
  cgroup: {
    'memory/memory.limit_in_bytes': '1024',
    'memory/memory.memsw.limit_in_bytes': '1024',
    'cpu/cpu.cfs_quota_us': '50000',
    'cpu/cpu.cfs_period_us': '100000',
    'pids/pids.max': '64',
  },
  disks: undefined,
  mounts: [
    { point: '/', options: 'ro,nosuid', kind: 'ext4' },
    { point: '/inputs', options: 'ro', kind: 'ext4' },
    { point: '/sys/fs/cgroup/memory', options: 'ro', kind: 'cgroup' },
    { point: '/sys/fs/cgroup', options: 'ro', kind: 'cgroup2' },
  ],
  asked: {
    memory: { limit: 1024 },
    cpu: { quota: 50_000, period: 100_000 },
    pids: { limit: 64 },
    mounts: [
      { destination: '/inputs', options: ['ro'] },
      { destination: '/sys/fs/cgroup', options: ['ro'] },
    ],
  },
};
const differences = (change: Partial<HostView>) => [...hostDifferences({ ...view, ...change })];
const without = (kind: string) => view.ownNamespaces.filter((one) => one !== kind);

const weaker: Record<string, Partial<HostView>> = {
  'the host’s root': { status: { ...view.status, Uid: '0 0 0 0' } },
  'a file system uid of its own': { status: { ...view.status, Uid: `${base} ${base} ${base} 0` } },
  'a group': { status: { ...view.status, Groups: '0' } },
  'a capability more': { status: { ...view.status, CapBnd: '00000000000001e1' } },
  'an inheritable capability': { status: { ...view.status, CapInh: '0000000000000020' } },
  'new privileges': { status: { ...view.status, NoNewPrivs: '0' } },
  'no filter': { status: { ...view.status, Seccomp: '0' } },
  'a filter that the kernel does not report': { status: { ...view.status, Seccomp: 'untold' } },
  ...Object.fromEntries(view.ownNamespaces.map((kind) => [`the host’s ${kind}`, { ownNamespaces: without(kind) }])),
  'another cgroup': { isInCgroup: false },
  'more memory': { cgroup: { ...view.cgroup, 'memory/memory.limit_in_bytes': '9223372036854771712' } },
  swap: { cgroup: { ...view.cgroup, 'memory/memory.memsw.limit_in_bytes': '2048' } },
  'more of the processor': { cgroup: { ...view.cgroup, 'cpu/cpu.cfs_quota_us': '-1' } },
  'processes without end': { cgroup: { ...view.cgroup, 'pids/pids.max': 'max' } },
  'a writable root': { mounts: view.mounts.with(0, { point: '/', options: 'rw', kind: 'ext4' }) },
  'a writable input': { mounts: view.mounts.with(1, { point: '/inputs', options: 'rw', kind: 'ext4' }) },
  'a writable cgroup': {
    mounts: view.mounts.with(2, { point: '/sys/fs/cgroup/memory', options: 'rw', kind: 'cgroup' }),
  },
  'a writable folder of cgroups': {
    mounts: view.mounts.with(3, { point: '/sys/fs/cgroup', options: 'rw', kind: 'cgroup2' }),
  },
  'no input': { mounts: view.mounts.toSpliced(1, 1) },
};

describe('what the host’s kernel says of a cell', () => {
  test('shows no difference in a sealed one', () => assert.deepEqual(differences({}), []));
  for (const [weakness, change] of Object.entries(weaker))
    test(`names ${weakness} as one difference`, () => assert.equal(differences(change).length, 1));

  test('is compared under version 2 of cgroups as well', () => {
    const cgroup = { 'memory.max': '1024', 'memory.swap.max': '0', 'cpu.max': '50000 100000', 'pids.max': '64' };
    assert.deepEqual(differences({ cgroup }), []);
    for (const name of Object.keys(cgroup))
      assert.equal(differences({ cgroup: { ...cgroup, [name]: 'max' } }).length, 1, name);
  });
  test('is no difference for what a kernel without an account for swap can’t tell', () => {
    const { 'memory/memory.memsw.limit_in_bytes': _, ...cgroup } = view.cgroup;
    assert.deepEqual(differences({ cgroup }), []);
  });
  test('is a difference if it says nothing of the limits', () => assert.notDeepEqual(differences({ cgroup: {} }), []));

  test('is compared for every disk that is bounded, in both versions of cgroups', () => {
    const disks = {
      bytes: 1024,
      operations: 2,
      disks: [
        { major: 8, minor: 0 },
        { major: 8, minor: 16 },
      ],
    };
    const files = Object.entries(wantedLines(disks)[1]).map(([file, lines]) => [file, lines.join('\n')]);
    const bounded = { ...view.cgroup, ...Object.fromEntries(files) };
    assert.deepEqual(differences({ disks, cgroup: bounded }), []);
    assert.equal(differences({ disks }).length, 8);
    for (const [file = '', text = ''] of files) {
      assert.equal(differences({ disks, cgroup: { ...bounded, [file]: text.split('\n')[0] ?? '' } }).length, 1, file);
      assert.equal(differences({ disks, cgroup: { ...bounded, [file]: text.replace(/\d+$/, '9') } }).length, 1, file);
    }
    const unified = { 'memory.max': '1024', 'memory.swap.max': '0', 'cpu.max': '50000 100000', 'pids.max': '64' };
    const line = 'rbps=1024 wbps=1024 riops=2 wiops=2';
    const io = { 'io.max': `8:0 ${line}\n8:16 ${line}\n8:32 rbps=1 wbps=max riops=max wiops=max` };
    assert.deepEqual(differences({ disks, cgroup: { ...unified, ...io } }), []);
    assert.equal(differences({ disks, cgroup: { ...unified, 'io.max': `8:0 ${line}` } }).length, 1);
  });

  test('is about the sandbox under gVisor: its filter, network and limits', () => {
    const sandbox: Partial<HostView> = { runtime: 'gvisor', status: { NoNewPrivs: '1', Seccomp: '2' }, mounts: [] };
    assert.deepEqual(differences(sandbox), []);
    assert.equal(differences({ ...sandbox, ownNamespaces: without('net') }).length, 1);
    assert.equal(differences({ ...sandbox, status: { NoNewPrivs: '1', Seccomp: '0' } }).length, 1);
  });
});
