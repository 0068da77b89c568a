import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { postureFields, type PostureRecord } from '@hotcell/contract/frames-posture.ts';
import type { ExpectedPosture } from '@hotcell/contract/posture/posture-expected.ts';
import { insideFacts, recordsIn } from '@hotcell/contract/posture/posture-facts.ts';
import { insideDifferences } from '@hotcell/contract/posture/posture-inside.ts';
import { Posture } from '@hotcell/contract/posture.ts';
import { recorded } from './recorded-postures.ts';

type Change = (records: PostureRecord[], expected: ExpectedPosture) => void;

const edit = <K extends PostureRecord['key']>(
  key: K,
  which: (record: Extract<PostureRecord, { key: K }>) => boolean,
  change: Partial<Extract<PostureRecord, { key: K }>>,
): Change => {
  return (records) => {
    const found = records.find(
      (one): one is Extract<PostureRecord, { key: K }> =>
        one.key === key && which(one as Extract<PostureRecord, { key: K }>),
    );
    assert.ok(found, `the recorded posture has no such ${key}`);
    Object.assign(found, change);
  };
};
const add =
  (record: PostureRecord): Change =>
  (records) =>
    void records.push(record);
const drop =
  (key: PostureRecord['key'], which: (record: PostureRecord) => boolean = () => true): Change =>
  (records) => {
    const at = records.findIndex((one) => one.key === key && which(one));
    assert.notEqual(at, -1, `the recorded posture has no ${key}`);
    records.splice(at, 1);
  };
const any = () => true;
const mountAt = (point: string) => (mount: { point: string }) => mount.point === point;
const someMount = {
  key: 'mount',
  root: '/',
  options: 'rw,nosuid,nodev',
  fstype: 'ext4',
  source: '/dev/sda1',
  superOptions: 'rw',
  flags: 0,
  bytes: 1,
  inodes: 1,
} as const;

/** One weakness each, and the difference that is reported. */
const weaknesses: Record<string, { change: Change; said: RegExp; runcOnly?: true }> = {
  'another uid': { change: edit('ids', any, { euid: 0 }), said: /euid is 0/ },
  'a group more': { change: add({ key: 'group', gid: 0 }), said: /in the group 0/ },
  'a capability': {
    change: edit('caps', any, { bounding: '0000000000000020' }),
    said: /bounding capabilities are 0000000000000020/,
  },
  'new privileges': { change: edit('noNewPrivs', any, { value: 0 }), said: /new privileges/ },
  'a filter that knows a call': {
    change: edit('tried', ({ call }) => call === 'seccomp', { errno: 0 }),
    said: /seccomp was answered with success and should be with errno 1/,
  },
  'a filter that lets the host flush': {
    change: edit('tried', ({ call }) => call === 'syncfs', { errno: 5 }),
    said: /syncfs was answered with errno 5/,
  },
  'a call that was not tried': {
    change: drop('tried', (one) => 'call' in one && one.call === 'keyctl'),
    said: /it did not try keyctl/,
  },
  'more processors': { change: edit('cpus', any, { count: 64 }), said: /begins on 64 processors/ },
  'a hidden path that was not looked for': {
    change: drop('hidden', (one) => 'path' in one && one.path === '/proc/kcore'),
    said: /it did not look for \/proc\/kcore/,
  },
  'a hidden path without a mask': {
    change: edit('hidden', ({ path }) => path === '/proc/scsi', { there: 1 }),
    said: /\/proc\/scsi is not covered/,
    runcOnly: true,
  },
  'no filter': { change: edit('seccomp', any, { mode: 0 }), said: /no seccomp filter/ },
  'an interface': { change: add({ key: 'interface', index: 2, name: 'eth0', flags: 1 }), said: /interface eth0/ },
  'an interface that only /proc shows': { change: add({ key: 'procInterface', name: 'tun0' }), said: /tun0/ },
  'a route': { change: add({ key: 'route', family: 4, line: 'eth0 00000000 010011AC' }), said: /there is a route/ },
  'a writable root': { change: edit('mount', mountAt('/'), { options: 'rw' }), said: /mount \/ is writable/ },
  'a writable input': { change: edit('mount', mountAt('/inputs'), { options: 'rw' }), said: /\/inputs is writable/ },
  'an unknown mount': { change: add({ ...someMount, point: '/host' }), said: /\/host is not one of ours/ },
  'a scratch without bound': { change: edit('mount', mountAt('/tmp'), { bytes: 2 ** 40 }), said: /\/tmp holds/ },
  'a scratch that runs programs': {
    change: edit('mount', mountAt('/outputs'), { options: 'rw,nosuid,nodev' }),
    said: /\/outputs should not let programs run/,
  },
  'a scratch that is a disk': { change: edit('mount', mountAt('/work'), { fstype: 'ext4' }), said: /\/work is ext4/ },
  'no own passwd': {
    change: drop('mount', (one) => 'point' in one && one.point === '/etc/passwd'),
    said: /nothing is mounted at \/etc\/passwd/,
  },
  'another limit of processes': {
    change: edit('rlimit', ({ resource }) => resource === 6, { hard: 'unlimited' }),
    said: /the limit nproc/,
  },
  'a device': {
    change: add({ key: 'device', path: '/dev/kmsg', mode: 0o20666, major: 1, minor: 11, target: '' }),
    said: /\/dev\/kmsg/,
  },
  'a device under a harmless name': {
    change: edit('device', ({ path }) => path === '/dev/null', { minor: 1 }),
    said: /\/dev\/null \(1:1\)/,
  },
  'a variable': {
    change: add({ key: 'env', name: 'LD_PRELOAD', sha256: 'f'.repeat(64) }),
    said: /the environment has LD_PRELOAD/,
  },
  'a variable with another value': {
    change: edit('env', ({ name }) => name === 'PATH', { sha256: 'f'.repeat(64) }),
    said: /the environment lacks PATH/,
  },
  'a descriptor': { change: add({ key: 'fd', fd: 7, mode: 0o140777, flags: 0 }), said: /descriptor 7/ },
  'a standard input that is a socket': {
    change: edit('fd', ({ fd }) => fd === 0, { mode: 0o140777 }),
    said: /descriptor 0/,
  },
  'another folder': { change: edit('cwd', any, { path: '/' }), said: /starts in \// },
  'the host’s name': { change: edit('hostname', any, { name: 'prod-7' }), said: /prod-7/ },
  'another machine': { change: edit('kernel', any, { machine: 'aarch64' }), said: /aarch64/ },
  'another order of kills for memory': {
    change: edit('oomScoreAdj', any, { value: '-1000' }),
    said: /first to be killed/,
  },
  'another init': { change: edit('init', any, { sha256: 'f'.repeat(64) }), said: /init is f+/ },
  'an init with more rights': {
    change: edit('init', any, { effective: '000001ffffffffff' }),
    said: /init has the capabilities 000001ffffffffff/,
  },
  'a missing record': { change: drop('seccomp'), said: /seccomp was reported 0 times/ },
  'a record that comes twice': {
    change: add({ key: 'noNewPrivs', value: 1 }),
    said: /noNewPrivs was reported 2 times/,
  },
  'more records than fit': { change: add({ key: 'more', of: 9 }), said: /more records of mount/ },
  'an unreadable record': { change: add({ key: 'unreadable', of: 6, errno: 13 }), said: /interface could not be read/ },
  'a scratch that honours devices': {
    change: edit('mount', mountAt('/work'), { options: 'rw,nosuid' }),
    said: /\/work is not nodev/,
    runcOnly: true,
  },
  'a scratch with more files': {
    change: edit('mount', mountAt('/work'), { inodes: 0 }),
    said: /\/work holds 0 files/,
    runcOnly: true,
  },
  'a mask that can be written to': {
    change: edit('mount', mountAt('/proc/acpi'), { options: 'rw', root: '/', fstype: 'tmpfs' }),
    said: /\/proc\/acpi is not masked/,
    runcOnly: true,
  },
  'an unmasked path': {
    change: edit('mount', mountAt('/proc/keys'), { root: '/', fstype: 'ext4' }),
    said: /\/proc\/keys is not masked/,
    runcOnly: true,
  },
  'more memory': {
    change: edit('cgroup', ({ file }) => file.endsWith('limit_in_bytes'), { value: '9223372036854771712' }),
    said: /memory/,
    runcOnly: true,
  },
  swap: {
    change: edit('cgroup', ({ file }) => file.includes('memsw'), { value: '9223372036854771712' }),
    said: /memsw/,
    runcOnly: true,
  },
  'processes without end': {
    change: edit('cgroup', ({ file }) => file.endsWith('pids.max'), { value: 'max' }),
    said: /pids\.max is max/,
    runcOnly: true,
  },
  'more of the processor': {
    change: edit('cgroup', ({ file }) => file.endsWith('cfs_quota_us'), { value: '-1' }),
    said: /cfs_quota_us is -1/,
    runcOnly: true,
  },
};

for (const runtime of ['runc', 'gvisor', 'gvisor-2026'] as const)
  describe(`from inside a cell on ${runtime}`, () => {
    test('a sealed cell shows no difference', () => {
      const { records, expected } = recorded(runtime);
      assert.deepEqual(insideDifferences(records, expected), []);
    });
    test('a kernel without a security module has no label to read', () => {
      const { records, expected } = recorded(runtime);
      const unreadable = (of: number): PostureRecord[] => [...records, { key: 'unreadable', of, errno: 22 }];
      assert.deepEqual(insideDifferences(unreadable(postureFields.lsm.key), expected), []);
      const said = insideDifferences(unreadable(postureFields.caps.key), expected);
      assert.deepEqual(said, ['caps could not be read (errno 22)']);
    });
    test('a variable may be longer than a record', () => {
      const { records, expected } = recorded(runtime);
      expected.env = { ...expected.env, LONG: 'ä'.repeat(60_000) };
      assert.deepEqual(insideDifferences(records, expected), ['the environment lacks LONG']);
      const digest = hexOf(sha256(`LONG=${expected.env['LONG']}`));
      add({ key: 'env', name: 'LONG', sha256: digest })(records, expected);
      assert.deepEqual(insideDifferences(records, expected), []);
    });
    test('its facts fit into a result', () => {
      const { records } = recorded(runtime);
      Posture.parse({ inside: insideFacts(records), outside: {}, worth: '' });
    });
    for (const [weakness, { change, said, runcOnly }] of Object.entries(weaknesses))
      if (!(runcOnly && runtime !== 'runc'))
        test(`${weakness} is reported as a difference`, () => {
          const { records, expected } = recorded(runtime);
          change(records, expected);
          const differences = insideDifferences(records, expected);
          assert.match(differences.join('\n'), said);
        });
  });

describe('the devices and mounts of a newer gVisor', () => {
  const differences = (runtime: string, change: Change) => {
    const { records, expected } = recorded(runtime);
    change(records, expected);
    return insideDifferences(records, expected);
  };
  const byNumber = (path: string, target: string) =>
    add({ key: 'device', path, mode: 0o120777, major: 0, minor: 0, target });
  test('are accepted on gVisor alone', () => {
    assert.match(differences('runc', byNumber('/dev/char/1:3', '../null')).join(), /\/dev\/char\/1:3/);
    const mount = edit('mount', mountAt('/dev'), { fstype: 'dev' });
    assert.match(differences('runc', mount).join(), /\/dev is not one of ours/);
  });
  test('must link a number to the device that has it', () => {
    assert.match(differences('gvisor-2026', byNumber('/dev/char/1:1', '../mem')).join(), /\/dev\/char\/1:1/);
    const elsewhere = edit('device', ({ path }) => path === '/dev/char/1:3', { target: '../../proc/1/fd/1' });
    assert.match(differences('gvisor-2026', elsewhere).join(), /\/dev\/char\/1:3/);
  });
});

describe('under the other version of cgroups', () => {
  const files = (more: Record<string, string> = {}) =>
    Object.entries({
      'memory.max': '536870912',
      'memory.swap.max': '0',
      'cpu.max': '100000 100000',
      'pids.max': '144',
      ...more,
    }).map(([file, value]): PostureRecord => ({ key: 'cgroup', file, value }));
  const differences = (cgroup: PostureRecord[]) => {
    const { records, expected } = recorded('runc');
    return insideDifferences([...records.filter(({ key }) => key !== 'cgroup'), ...cgroup], expected);
  };
  test('the same limits under its names show no difference', () => assert.deepEqual(differences(files()), []));
  for (const [file, value] of Object.entries({
    'memory.max': 'max',
    'memory.swap.max': 'max',
    'cpu.max': 'max 100000',
    'pids.max': 'max',
  }))
    test(`${file} without a limit is a difference`, () => {
      assert.deepEqual(differences(files({ [file]: value })).length, 1);
    });
  test('no limits at all are differences', () => assert.notDeepEqual(differences([]), []));
});

for (const runtime of ['runc', 'gvisor', 'gvisor-2026'])
  test(`the facts of a result give back every record, on ${runtime}`, () => {
    const { records } = recorded(runtime);
    const facts = insideFacts(records);
    const back = recordsIn(facts);
    assert.equal(back.length, records.length);
    assert.deepEqual(insideFacts(back), facts);
    assert.deepEqual(
      back.filter(({ key }) => key !== 'mount' && key !== 'device').toSorted(byText),
      records.filter(({ key }) => key !== 'mount' && key !== 'device').toSorted(byText),
    );
  });

function byText(one: PostureRecord, other: PostureRecord): number {
  return JSON.stringify(one, Object.keys(one).toSorted()) < JSON.stringify(other, Object.keys(other).toSorted())
    ? -1
    : 1;
}
