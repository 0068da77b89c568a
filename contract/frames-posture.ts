/**
 * The records of a posture, with their fields in order. One table, so that the decoder and the types can't differ. Some
 * records repeat, once per thing (interface, mount, variable …).
 *
 * int: a safe integer. size: a number of bytes or a limit, or 'unlimited' (everything above 2^53). mask: 64 bits as 16
 * hex digits. hex: bytes as hex. text: bytes as printable ASCII, everything else and the backslash as \xNN.
 */
export const postureFields = {
  ids: { key: 1, fields: { ruid: 'int', euid: 'int', suid: 'int', rgid: 'int', egid: 'int', sgid: 'int' } },
  group: { key: 2, fields: { gid: 'int' } },
  caps: {
    key: 3,
    fields: { inheritable: 'mask', permitted: 'mask', effective: 'mask', bounding: 'mask', ambient: 'mask' },
  },
  noNewPrivs: { key: 4, fields: { value: 'int' } },
  seccomp: { key: 5, fields: { mode: 'int' } },
  /** From SIOCGIFNAME over all indexes: the kernel's own list. */
  interface: { key: 6, fields: { index: 'int', name: 'text', flags: 'int' } },
  /** From /proc/net/dev: must name the same interfaces. */
  procInterface: { key: 7, fields: { name: 'text' } },
  /** A line of /proc/net/route (4) or /proc/net/ipv6_route (6). */
  route: { key: 8, fields: { family: 'int', line: 'text' } },
  /** A row of mountinfo, with statvfs of its mount point. */
  mount: {
    key: 9,
    fields: {
      point: 'text',
      root: 'text',
      options: 'text',
      fstype: 'text',
      source: 'text',
      superOptions: 'text',
      flags: 'int',
      bytes: 'size',
      inodes: 'size',
    },
  },
  rlimit: { key: 10, fields: { resource: 'int', soft: 'size', hard: 'size' } },
  /** A file under /sys/fs/cgroup and its content. */
  cgroup: { key: 11, fields: { file: 'text', value: 'text' } },
  /** An entry of /dev: st_mode, device numbers, and where a link points. */
  device: { key: 12, fields: { path: 'text', mode: 'int', major: 'int', minor: 'int', target: 'text' } },
  /** A variable by its name, and the digest of the whole entry, whose value may be longer than a record. */
  env: { key: 13, fields: { name: 'text', sha256: 'hex' } },
  fd: { key: 14, fields: { fd: 'int', mode: 'int', flags: 'int' } },
  cwd: { key: 15, fields: { path: 'text' } },
  uidMap: { key: 16, fields: { line: 'text' } },
  gidMap: { key: 17, fields: { line: 'text' } },
  hostname: { key: 18, fields: { name: 'text' } },
  kernel: { key: 19, fields: { sysname: 'text', release: 'text', version: 'text', machine: 'text' } },
  oomScoreAdj: { key: 20, fields: { value: 'text' } },
  lsm: { key: 21, fields: { label: 'text' } },
  /** Init itself: its digest, read from /proc/self/exe, its ids and capabilities. */
  init: {
    key: 22,
    fields: { sha256: 'hex', uid: 'int', inheritable: 'mask', permitted: 'mask', effective: 'mask', bounding: 'mask' },
  },
  /** How many processors the job begins on. */
  cpus: { key: 23, fields: { count: 'int' } },
  /** A call that no cell may make, and what came back: 0 if it succeeded. */
  tried: { key: 24, fields: { call: 'text', errno: 'int' } },
  /** A path that a cell hides or protects, and whether the kernel has it at all. */
  hidden: { key: 25, fields: { path: 'text', there: 'int' } },
  /** The record `of` could not be read. */
  unreadable: { key: 30, fields: { of: 'int', errno: 'int' } },
  /** The record `of` has more entries than are listed. */
  more: { key: 31, fields: { of: 'int' } },
} as const satisfies Record<string, { key: number; fields: Record<string, PostureKind> }>;

export type PostureKind = 'int' | 'size' | 'mask' | 'hex' | 'text';

interface PostureValues {
  int: number;
  size: number | 'unlimited';
  mask: string;
  hex: string;
  text: string;
}

export type PostureKey = keyof typeof postureFields;

type Fields<K extends PostureKey> = (typeof postureFields)[K]['fields'];

type PostureRecordOf<K extends PostureKey> = { key: K } & {
  [F in keyof Fields<K>]: Fields<K>[F] extends PostureKind ? PostureValues[Fields<K>[F]] : never;
};

export type PostureRecord = { [K in PostureKey]: PostureRecordOf<K> }[PostureKey];
