import type { CellRuntime } from '../cell-shape.ts';
import type { Records } from './posture-inside.ts';

const [EPERM, EBADF, ENOSYS] = [1, 9, 38];
const denied = { runc: EPERM, gvisor: EPERM };
/** On runc a list of arguments; gVisor's own kernel answers, which looks at the descriptor first. */
const deniedToHost = { runc: EPERM, gvisor: EBADF };
/** Without effect on the host: answered by the filter, or by the sentry. */
const without = { runc: 0, gvisor: EBADF };

/**
 * What the filter answers to each call that init tries. A mode says that there is a filter; only its answers say which. No
 * kernel would answer so by itself: images/cell-init/src/tried.c chooses the arguments for that.
 */
export const answers: Readonly<Record<string, Readonly<Record<CellRuntime, number | undefined>>>> = {
  seccomp: denied,
  'prctl SET_SECCOMP': denied,
  'prctl SCHED_CORE': denied,
  'setrlimit CORE': denied,
  'prlimit64 CORE': denied,
  keyctl: denied,
  add_key: denied,
  ptrace: denied,
  process_vm_readv: denied,
  kcmp: denied,
  pidfd_getfd: denied,
  perf_event_open: denied,
  io_uring_setup: denied,
  io_setup: denied,
  userfaultfd: denied,
  unshare: denied,
  setns: denied,
  'clone NEWNS': denied,
  // The sentry may make a namespace of its own.
  clone3: { runc: ENOSYS, gvisor: undefined },
  name_to_handle_at: denied,
  vmsplice: denied,
  msgget: denied,
  personality: denied,
  'mmap HUGETLB': denied,
  'socket NETLINK': denied,
  'socket SCTP': denied,
  'socket DCCP': denied,
  'setsockopt ATTACH_FILTER': deniedToHost,
  'setsockopt TCP_AO': deniedToHost,
  'ioctl TIOCSETD': deniedToHost,
  'ioctl SIOCGIFBR': deniedToHost,
  syncfs: without,
  fsync: without,
};

export function* triedDifferences(tried: Records<'tried'>, runtime: CellRuntime): Generator<string> {
  const found = new Map(tried.map(({ call, errno }) => [call, errno]));
  for (const [call, { [runtime]: wanted }] of Object.entries(answers)) {
    const errno = found.get(call);
    if (errno === undefined) yield `it did not try ${call}`;
    else if (wanted !== undefined && errno !== wanted)
      yield `${call} was answered with ${errno === 0 ? 'success' : `errno ${errno}`} and should be with ${wanted === 0 ? 'success' : `errno ${wanted}`}`;
  }
}
