/**
 * Calls that a cell may make only with the arguments listed here. A filter sees numbers, not what pointers point to, so each
 * list names what a job may ask for, and everything else is denied.
 */
/** `a-b`: all from a to b. */
const numbers = (text: string) =>
  text
    .trim()
    .split(/\s+/)
    .flatMap((word) => {
      const [first = 0, last = first] = word.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, i) => first + i);
    });

/** SOCK_STREAM with TCP, SOCK_DGRAM with UDP, and 0 for either. Any other pair makes the host look for a module. */
export const internetSockets = [
  { type: 1, protocols: [0, 6] },
  { type: 2, protocols: [0, 17] },
] as const;

/**
 * PDEATHSIG 1 2, DUMPABLE 3 4, KEEPCAPS 7 8, NAME 15 16, GET_SECCOMP 21, CAPBSET 23 24, GET_TSC 25, TIMERSLACK 29 30,
 * CHILD_SUBREAPER 36 37, NO_NEW_PRIVS 38 39, GET_TID_ADDRESS 40, THP_DISABLE 41 42, CAP_AMBIENT 47,
 * GET_SPECULATION_CTRL 52, GET_AUXV. Not SET_SECCOMP, whose programs take the host's memory; not SCHED_CORE, which keeps a
 * neighbour from the processor's other half; not SET_VMA, whose names no one counts.
 */
export const prctlOptions = numbers('1-4 7 8 15 16 21 23-25 29 30 36-42 47 52 0x41555856');
/** arm64's vector lengths, pointer keys and tagged addresses. */
export const prctlOfArm = numbers('50 51 54-56 60 61 63 64');

/** All but CORE: with 1 no kernel writes a core or pipes one to a program of the host; with 0 it pipes. */
export const rlimitCore = 4;
export const settableRlimits = Array.from({ length: 16 }, (_, resource) => resource).filter((r) => r !== rlimitCore);

/**
 * What files, pipes, sockets and a program that looks for a terminal ask for. Not TIOCSETD, SIOCGIFBR or SIOCGIFVLAN, which
 * load modules of the host, and nothing that makes a terminal.
 */
export const ioctlRequests = numbers(`
  0x5401 0x540f 0x5411 0x5413 0x541b 0x5421 0x5429 0x5450-0x5452 0x802c542a
  0x8901-0x8905 0x8910-0x891f 0x8921 0x8927 0x8933 0x894b
  0x40049409 0x4020940d 0x80086601 0x801c581f`);

/**
 * By level: IP, SOCKET, TCP, UDP, IPV6. Not ATTACH_FILTER and its kin, whose programs take the host's memory; not TIMESTAMP,
 * which turns stamps on for the host; not the keys of TCP_MD5SIG and TCP_AO, which load its modules; not
 * IPV6_FLOWLABEL_MGR, whose labels all cells share.
 */
export const socketOptions: Readonly<Record<number, readonly number[]>> = {
  0: numbers('0-15 24 32-51'),
  1: numbers('0-21 66 67'),
  6: numbers('0-13 16-18 23 25 30 36'),
  17: numbers('1 103 104'),
  41: numbers('16-31 42-51 62 66 67'),
};

/** MAP_HUGETLB in mmap's flags, MFD_HUGETLB in memfd_create's: huge pages are the host's, and not counted as memory. */
export const hugePages = { mmap: 0x40000, memfd_create: 0x4 };
export const msyncSync = 4;
export const fadviseDontneed = 4;
export const otherAdvice = [0, 1, 2, 3, 5];
