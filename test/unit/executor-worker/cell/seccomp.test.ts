import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { seccompProfile } from '@hotcell/executor-worker/cell/seccomp.ts';
import { readSeccomp } from '@hotcell/policies/installation-here.ts';
import { architectures, profileFor, profileText, runtimes } from '../../../../images/seccomp/profiles.ts';

/** None of these is ever needed by a job, and each has been the way out of some sandbox. */
const never = `
  acct add_key adjtimex bpf chroot clock_adjtime clock_settime delete_module fanotify_init finit_module fsconfig fsmount
  fsopen fspick init_module io_cancel io_destroy io_getevents io_setup io_submit io_uring_enter io_uring_register
  io_uring_setup ioperm iopl kcmp kexec_file_load kexec_load keyctl lookup_dcookie mbind memfd_secret migrate_pages
  modify_ldt mount mount_setattr move_mount move_pages mq_open msgget name_to_handle_at nfsservctl open_by_handle_at
  open_tree perf_event_open pidfd_getfd pivot_root process_madvise process_vm_readv process_vm_writev ptrace quotactl
  reboot request_key seccomp set_mempolicy setdomainname sethostname setns settimeofday swapoff swapon syslog umount2 unshare
  uselib userfaultfd ustat vhangup vmsplice`
  .trim()
  .split(/\s+/);

for (const runtime of runtimes)
  for (const architecture of architectures)
    describe(`the profile for ${runtime} on ${architecture}`, () => {
      const profile = profileFor(runtime, architecture);
      const allowed = profile.syscalls.filter(({ action }) => action === 'SCMP_ACT_ALLOW');
      const named = (name: string) => allowed.filter(({ names }) => names.includes(name));

      test('is what its file says', () => {
        const file = join(import.meta.dirname, `../../../../images/seccomp/${runtime}-${architecture}.json`);
        assert.equal(
          readFileSync(file, 'utf8'),
          profileText(runtime, architecture),
          'run node images/seccomp/generate.ts',
        );
      });
      test('denies every call it does not name, and knows one ABI', () => {
        assert.equal(profile.defaultAction, 'SCMP_ACT_ERRNO');
        assert.equal(profile.defaultErrnoRet, 1);
        assert.equal(profile.architectures.length, 1);
      });
      test('does not name calls that no job needs', () => {
        assert.deepEqual(
          never.filter((name) => named(name).length > 0),
          [],
        );
      });
      test('allows sockets of three families, TCP and UDP, and no new namespaces', () => {
        const conditions = named('socket').map(({ args }) => args?.map(({ valueTwo }) => valueTwo));
        const internet = [2, 10].flatMap((family) => [
          [family, 1, 0],
          [family, 1, 6],
          [family, 2, 0],
          [family, 2, 17],
        ]);
        assert.deepEqual(conditions, [[1], ...internet]);
        assert.deepEqual(
          named('clone').map(({ args }) => args),
          [[{ index: 0, value: 0x7e020000, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }]],
        );
      });
      test('allows nodes that are files, fifos or sockets, never devices', () => {
        const kinds = named('mknodat').map(({ args }) => args?.[0]);
        assert.deepEqual(
          kinds.map((kind) => kind?.valueTwo),
          [0, 0o100000, 0o010000, 0o140000],
        );
        assert.ok(kinds.every((kind) => kind?.index === 2 && kind.value === 0o170000));
      });
      test('compares what the kernel reads of an argument: 32 bits, unless it is a pointer', () => {
        for (const { names, args } of profile.syscalls)
          for (const { value, op } of args ?? [])
            if (op === 'SCMP_CMP_EQ') assert.deepEqual([names, value], [['prlimit64'], 0]);
            else assert.ok(value <= 0xffffffff, names.join());
      });
      test('lets no process load a filter, or change the limit of cores', () => {
        const lets = (name: string, index: number, asked: number) =>
          named(name).some(({ args }) => {
            const { value = 0, valueTwo } = args?.find((one) => one.index === index) ?? {};
            return (BigInt(asked) & BigInt(value)) === BigInt(valueTwo ?? -1);
          });
        assert.equal(named('seccomp').length, 0);
        assert.deepEqual([lets('prctl', 0, 22), lets('prctl', 0, 62), lets('prctl', 0, 15)], [false, false, true]);
        for (let resource = 0; resource < 16; resource++) assert.equal(lets('setrlimit', 0, resource), resource !== 4);
        if (runtime === 'runc') {
          const denied = [26, 27, 29, 44, 50, 51, 52];
          const options = Array.from({ length: 80 }, (_, option) => option).filter((one) => lets('setsockopt', 2, one));
          const onSockets = named('setsockopt').filter(({ args }) => args?.[0]?.valueTwo === 1);
          assert.ok(options.length > 20 && onSockets.length > 0);
          for (const { args } of onSockets)
            for (const one of denied)
              assert.notEqual(BigInt(one) & BigInt(args?.[1]?.value ?? 0), BigInt(args?.[1]?.valueTwo ?? 0));
        }
        const ofCore = named('prlimit64').filter(({ args }) => args?.[0]?.valueTwo === 4);
        assert.deepEqual(
          ofCore.map(({ args }) => args?.[1]),
          [{ index: 2, value: 0, op: 'SCMP_CMP_EQ' }],
        );
      });
      test('keeps what a job asks to be written, or thrown out, from the host’s disks and memory', () => {
        const answered = profile.syscalls.filter(({ errnoRet }) => errnoRet === 0).flatMap(({ names }) => names);
        const wanted = ['fdatasync', 'fsync', 'sync', 'sync_file_range', 'syncfs', 'msync', 'fadvise64'];
        assert.deepEqual(answered, runtime === 'runc' ? wanted : []);
      });
      test('names each call once, or only with conditions on its arguments', () => {
        const plain = allowed.filter(({ args }) => args === undefined).flatMap(({ names }) => names);
        assert.equal(new Set(plain).size, plain.length);
        for (const { names, args } of allowed) if (args) assert.ok(!plain.includes(names[0] ?? ''));
      });
      test('answers clone3 so that the C library does without it, or allows it to gVisor', () => {
        const rule = profile.syscalls.find(({ names }) => names.includes('clone3'));
        assert.deepEqual(
          [rule?.action, rule?.errnoRet],
          runtime === 'runc' ? ['SCMP_ACT_ERRNO', 38] : ['SCMP_ACT_ALLOW', undefined],
        );
      });
    });

describe('the profile of a cell', () => {
  const pinned = Object.fromEntries(readSeccomp().map(({ name, digest }) => [name, digest]));
  test('is the one that the policy pins', async () => {
    const { line } = await seccompProfile({ runtime: 'runc', seccomp: pinned }, 'x86_64');
    assert.deepEqual(JSON.parse(line), profileFor('runc', 'x86_64'));
  });
  test('must be that one, or no cell is made', async () => {
    const other = { ...pinned, 'runc-x86_64': `sha256:${'0'.repeat(64)}` };
    for (const seccomp of [other, {}])
      await assert.rejects(seccompProfile({ runtime: 'runc', seccomp }, 'x86_64'), { code: 'posture_differs' });
  });
});
