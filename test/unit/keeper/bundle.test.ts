import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { cellMemory } from '@hotcell/contract/cell-bounds.ts';
import { type Limits, limitNames, limitTable } from '@hotcell/contract/limits.ts';
import { bundleOf } from '@hotcell/keeper/bundle.ts';
import { testLimits } from '../../support/limits.ts';

const parts = {
  runtime: 'runc' as const,
  limits: testLimits,
  root: '/keeper/roots/a/root',
  files: [
    { source: '/keeper/cells/b/cell-init', target: '/cell-init' },
    { source: '/keeper/cells/b/passwd', target: '/etc/passwd' },
  ],
  inputs: [{ source: '/keeper/cells/b/input-0', target: '/inputs' }],
  seccomp: { defaultAction: 'SCMP_ACT_ERRNO' },
  cgroup: '/hotcell/x/b',
  hierarchies: undefined,
  idBase: 1_000_000_000,
  devices: '/keeper/devices/1',
  disks: undefined,
};

describe('a cell’s bundle', () => {
  const bundle = bundleOf(parts);
  const mount = (at: string) => bundle.mounts.find(({ destination }) => destination === at);

  test('runs our init and nothing else, with four capabilities and no variable', () => {
    const { args, env, capabilities, noNewPrivileges, user } = bundle.process;
    assert.deepEqual([args, env, user, noNewPrivileges], [['/cell-init'], [], { uid: 0, gid: 0 }, true]);
    const four = ['CAP_KILL', 'CAP_SETGID', 'CAP_SETPCAP', 'CAP_SETUID'];
    assert.deepEqual(capabilities, { bounding: four, effective: four, permitted: four });
  });
  test('has every namespace of its own, and names no other’s', () => {
    const all = ['pid', 'network', 'ipc', 'uts', 'mount', 'cgroup', 'user'];
    assert.deepEqual(
      bundle.linux.namespaces,
      all.map((type) => ({ type })),
    );
    const { namespaces } = bundleOf({ ...parts, idBase: undefined }).linux;
    assert.ok(!namespaces.some(({ type }) => type === 'user'));
  });
  test('is uid 0 only to itself', () => {
    assert.deepEqual(bundle.linux.uidMappings, [{ containerID: 0, hostID: 1_000_000_000, size: 65_536 }]);
    assert.deepEqual(bundle.linux.gidMappings, bundle.linux.uidMappings);
  });
  test('has a read-only root, and mounts everything of the host read-only, nosuid and nodev', () => {
    assert.deepEqual(bundle.root, { path: parts.root, readonly: true });
    const ofHost = bundle.mounts.filter(({ type, destination }) => type === 'bind' && destination !== '/dev');
    assert.deepEqual(
      ofHost.map(({ destination }) => destination),
      ['/cell-init', '/etc/passwd', '/inputs'],
    );
    for (const { options } of ofHost)
      for (const option of ['ro', 'nosuid', 'nodev', 'rprivate']) assert.ok(options.includes(option));
    assert.ok(mount('/inputs')?.options.includes('noexec'));
    assert.ok(!mount('/cell-init')?.options.includes('noexec'));
  });
  test('allows the harmless devices, none of them a terminal of the host’s, and refuses all others first', () => {
    const { devices } = bundle.linux.resources;
    assert.deepEqual(devices[0], { allow: false, access: 'rwm' });
    for (const one of devices.slice(1)) assert.ok('major' in one && [1, 5].includes(one.major));
  });
  test('sees the hierarchies of its own cgroup read-only, below a folder in which no job can write', () => {
    const { mounts } = bundleOf({ ...parts, hierarchies: { memory: '/sys/fs/cgroup/memory/hotcell/x/b' } });
    const at = (place: string) => mounts.find(({ destination }) => destination === place);
    assert.ok(at('/sys/fs/cgroup')?.options.includes('mode=755'));
    assert.ok(at('/sys/fs/cgroup/memory')?.options.includes('ro'));
    assert.deepEqual(
      [mount('/sys/fs/cgroup')?.type, mount('/sys/fs/cgroup')?.options.includes('ro')],
      ['cgroup', true],
    );
  });
  test('has devices of its own, which no program of it can change or run', () => {
    const [own, sentrys] = [mount('/dev'), bundleOf({ ...parts, runtime: 'gvisor', devices: undefined }).mounts];
    assert.deepEqual([own?.source, own?.options], [parts.devices, ['bind', 'ro', 'nosuid', 'noexec', 'rprivate']]);
    assert.equal(sentrys.find(({ destination }) => destination === '/dev')?.type, 'tmpfs');
  });
  test('carries the profile as it is', () => assert.equal(bundle.linux.seccomp, parts.seccomp));
});

test('whatever limits are allowed, every bound is set and none is unlimited', () => {
  const anyLimits = fc.record(
    Object.fromEntries(
      limitNames.map((name) => {
        const { min, max } = limitTable[name];
        return [name, name === 'cpus' ? fc.double({ min, max, noNaN: true }) : fc.integer({ min, max })];
      }),
    ),
  ) as fc.Arbitrary<Limits>;
  fc.assert(
    fc.property(anyLimits, fc.constantFrom('runc' as const, 'gvisor' as const), (limits, runtime) => {
      const { resources } = bundleOf({ ...parts, limits, runtime }).linux;
      assert.equal(resources.memory.limit, cellMemory({ limits, runtime }));
      assert.ok(resources.memory.limit > 0);
      assert.equal(resources.memory.swap, resources.memory.limit);
      assert.ok(resources.cpu.quota >= 1000);
      assert.ok(resources.pids.limit > limits.pids);
    }),
  );
});
