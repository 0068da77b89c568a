import {
  fadviseDontneed,
  hugePages,
  internetSockets,
  ioctlRequests,
  msyncSync,
  otherAdvice,
  prctlOfArm,
  prctlOptions,
  rlimitCore,
  settableRlimits,
  socketOptions,
} from './arguments.ts';

/**
 * The system calls that a cell may use: our own allow-list. Any other call fails with EPERM, and a call by a foreign ABI
 * (32-bit, x32) kills the process. `node generate.ts` writes the JSON files beside this one from it.
 */
export const architectures = ['x86_64', 'aarch64'] as const;
export const runtimes = ['runc', 'gvisor'] as const;
export type Architecture = (typeof architectures)[number];
export type ProfileRuntime = (typeof runtimes)[number];

interface Rule {
  names: string[];
  action: 'SCMP_ACT_ALLOW' | 'SCMP_ACT_ERRNO';
  errnoRet?: number;
  args?: { index: number; value: number; valueTwo?: number; op: 'SCMP_CMP_EQ' | 'SCMP_CMP_MASKED_EQ' }[];
}
export interface Profile {
  defaultAction: 'SCMP_ACT_ERRNO';
  defaultErrnoRet: number;
  architectures: string[];
  syscalls: Rule[];
}

const errno = { EPERM: 1, ENOSYS: 38 };

const files = `
  access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2 fallocate fchdir
  fchmod fchmodat fchmodat2 fchown fchownat fcntl fgetxattr flistxattr flock fremovexattr fsetxattr fstat fstatfs
  ftruncate futimesat getcpu getcwd getdents getdents64 getxattr inotify_add_watch inotify_init inotify_init1
  inotify_rm_watch lchown lgetxattr link linkat listxattr llistxattr lremovexattr lseek lsetxattr lstat mkdir mkdirat
  newfstatat open openat openat2 pipe pipe2 pread64 preadv preadv2 pwrite64 pwritev pwritev2 read readahead readlink
  readlinkat readv removexattr rename renameat renameat2 rmdir sendfile setxattr splice stat statfs statx symlink
  symlinkat tee truncate umask unlink unlinkat utime utimensat utimes write writev`;

const memory = `
  brk get_mempolicy madvise map_shadow_stack membarrier mincore mlock mlock2 mlockall mprotect mremap mseal munlock
  munlockall munmap pkey_alloc pkey_free pkey_mprotect remap_file_pages shmat shmctl shmdt shmget`;

const processes = `
  arch_prctl capget capset execve execveat exit exit_group fork futex futex_requeue futex_wait futex_waitv futex_wake
  get_robust_list get_thread_area getegid geteuid getgid getgroups getpgid getpgrp getpid getppid getpriority getrandom
  getresgid getresuid getrlimit getrusage getsid gettid getuid ioprio_get ioprio_set kill landlock_add_rule
  landlock_create_ruleset landlock_restrict_self pause pidfd_open pidfd_send_signal rseq sched_get_priority_max
  sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval
  sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield set_robust_list set_thread_area
  set_tid_address setfsgid setfsuid setgid setgroups setpgid setpriority setregid setresgid setresuid setreuid setsid
  setuid sysinfo tgkill times tkill uname vfork wait4 waitid`;

const signalsAndTime = `
  alarm clock_getres clock_gettime clock_nanosleep epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2
  epoll_wait eventfd eventfd2 getitimer gettimeofday nanosleep poll ppoll pselect6 restart_syscall rt_sigaction
  rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo select
  setitimer sigaltstack signalfd signalfd4 time timer_create timer_delete timer_getoverrun timer_gettime timer_settime
  timerfd_create timerfd_gettime timerfd_settime`;

const sockets = `
  accept accept4 bind connect getpeername getsockname getsockopt listen recvfrom recvmmsg recvmsg sendmmsg sendmsg
  sendto shutdown`;

const semaphores = 'semctl semget semop semtimedop';

/**
 * They make the host write its disks, and wait until it has. All that a cell can write is memory, for which success is the
 * right answer: on runc no kernel hears of them. gVisor's answers them itself.
 */
const flushes = ['fdatasync', 'fsync', 'sync', 'sync_file_range', 'syncfs'];

/** x86-64 only: arm64 never had these old forms. */
const legacy = new Set(
  `access alarm arch_prctl chmod chown creat dup2 epoll_create epoll_wait eventfd fork futimesat get_thread_area
   getdents getpgrp inotify_init lchown link lstat map_shadow_stack mkdir open pause pipe poll readlink rename
   rmdir select set_thread_area signalfd stat symlink time unlink utime utimes vfork`.split(/\s+/),
);

const wordsOf = (...lists: string[]) => lists.flatMap((list) => list.trim().split(/\s+/));

/** mknod may make a plain file (also written as 0), a fifo or a socket. Never a device, even where gVisor would allow it. */
const nodes = { mask: 0o170000, kinds: [0, 0o100000, 0o010000, 0o140000] };
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET must all be zero. */
const namespaceFlags = 0x7e020000;
/** PER_LINUX, and asking for the current one. */
const personalities = [0x0, 0xffffffff];
/** AF_UNIX, AF_INET, AF_INET6: no other family gets a socket. */
const [unix, ...internet] = [1, 2, 10];
/** SOCK_CLOEXEC and SOCK_NONBLOCK are given together with the type. */
const socketTypeMask = 0xfff7f7ff;

type Condition = NonNullable<Rule['args']>[number];
const masked = (index: number, mask: number, value: number): Condition => ({
  index,
  value: mask,
  valueTwo: value,
  op: 'SCMP_CMP_MASKED_EQ',
});
/** The kernel reads 32 bits of these arguments: what stands above them must not make a denied value another one. */
const is = (index: number, value: number) => masked(index, 0xffffffff, value);
const isNull = (index: number): Condition => ({ index, value: 0, op: 'SCMP_CMP_EQ' });
/** Rules for one call are alternatives; conditions of one rule must all hold. */
const allow = (name: string, ...args: Condition[]): Rule => ({ names: [name], action: 'SCMP_ACT_ALLOW', args });
/** One condition for each run of values that begins at a multiple of its length: rules cost every cell time at its start. */
function isOneOf(index: number, values: readonly number[]): Condition[] {
  const left = new Set(values);
  const found: Condition[] = [];
  for (const first of values.toSorted((a, b) => a - b)) {
    if (!left.has(first)) continue;
    const run = (size: number) => Array.from({ length: size }, (_, i) => first + i);
    let size = 1;
    while (first % (size * 2) === 0 && run(size * 2).every((value) => left.has(value))) size *= 2;
    for (const value of run(size)) left.delete(value);
    found.push(masked(index, 0x100000000 - size, first));
  }
  return found;
}
const allowEach = (name: string, index: number, values: readonly number[]) =>
  isOneOf(index, values).map((condition) => allow(name, condition));

const conditional = (architecture: Architecture): Rule[] => [
  allow('socket', is(0, unix)),
  ...internet.flatMap((family) =>
    internetSockets.flatMap(({ type, protocols }) =>
      protocols.map((protocol) => allow('socket', is(0, family), masked(1, socketTypeMask, type), is(2, protocol))),
    ),
  ),
  // Socket pairs exist only in AF_UNIX.
  allow('socketpair', is(0, unix)),
  ...allowEach('prctl', 0, architecture === 'x86_64' ? prctlOptions : [...prctlOptions, ...prctlOfArm]),
  ...allowEach('setrlimit', 0, settableRlimits),
  ...allowEach('prlimit64', 1, settableRlimits),
  // Asking for it is harmless.
  allow('prlimit64', is(1, rlimitCore), isNull(2)),
  ...nodes.kinds.flatMap((kind) => [
    ...(architecture === 'x86_64' ? [allow('mknod', masked(1, nodes.mask, kind))] : []),
    allow('mknodat', masked(2, nodes.mask, kind)),
  ]),
  ...allowEach('personality', 0, personalities),
  allow('clone', masked(0, namespaceFlags, 0)),
  allow('mmap', masked(3, hugePages.mmap, 0)),
  allow('memfd_create', masked(1, hugePages.memfd_create, 0)),
  allow('msync', masked(2, msyncSync, 0)),
  ...allowEach('fadvise64', 3, otherAdvice),
];

/** What differs between the runtimes. gVisor supports no errno values but EPERM. */
const answered: Readonly<Record<ProfileRuntime, Rule[]>> = {
  runc: [
    ...Object.entries(socketOptions).flatMap(([level, options]) =>
      isOneOf(2, options).map((option) => allow('setsockopt', is(1, Number(level)), option)),
    ),
    ...allowEach('ioctl', 1, ioctlRequests),
    { names: flushes, action: 'SCMP_ACT_ERRNO', errnoRet: 0 },
    { ...allow('msync', masked(2, msyncSync, msyncSync)), action: 'SCMP_ACT_ERRNO', errnoRet: 0 },
    // It throws out pages that other cells use, too.
    { ...allow('fadvise64', is(3, fadviseDontneed)), action: 'SCMP_ACT_ERRNO', errnoRet: 0 },
    // Its flags are in memory, where no filter can look: on ENOSYS the C library falls back to clone.
    { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: errno.ENOSYS },
  ],
  gvisor: [
    // What they load, flush or make stays in gVisor's own kernel, which takes no filter as long as that with lists for them.
    { names: [...flushes, 'clone3', 'ioctl', 'setsockopt'], action: 'SCMP_ACT_ALLOW' },
    allow('msync', masked(2, msyncSync, msyncSync)),
    allow('fadvise64', is(3, fadviseDontneed)),
  ],
};

export function profileFor(runtime: ProfileRuntime, architecture: Architecture): Profile {
  const common = wordsOf(files, memory, processes, signalsAndTime, sockets, semaphores);
  const names = architecture === 'x86_64' ? common : common.filter((name) => !legacy.has(name));
  return {
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: errno.EPERM,
    // Without the 32-bit sub-architectures: a call by another ABI is not refused but kills.
    architectures: [architecture === 'x86_64' ? 'SCMP_ARCH_X86_64' : 'SCMP_ARCH_AARCH64'],
    syscalls: [
      { names: names.toSorted(), action: 'SCMP_ACT_ALLOW' },
      ...conditional(architecture),
      ...answered[runtime],
    ],
  };
}

/** One rule on a line. */
export function profileText(runtime: ProfileRuntime, architecture: Architecture): string {
  const { syscalls, ...rest } = profileFor(runtime, architecture);
  const rules = syscalls.map((rule) => JSON.stringify(rule)).join(',\n');
  return `${JSON.stringify(rest).slice(0, -1)},"syscalls":[\n${rules}\n]}\n`;
}
