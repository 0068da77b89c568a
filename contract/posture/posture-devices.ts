import type { CellRuntime } from '../cell-shape.ts';
import type { Records } from './posture-inside.ts';

const kinds = { folder: 0o040000, character: 0o020000, fifo: 0o010000, link: 0o120000, mask: 0o170000 };

/** A character device by its numbers, a link by where it points, a folder. */
const known: Readonly<Record<string, string>> = {
  '/dev/null': '1:3',
  '/dev/zero': '1:5',
  '/dev/full': '1:7',
  '/dev/random': '1:8',
  '/dev/urandom': '1:9',
  '/dev/tty': '5:0',
  '/dev/ptmx': '-> pts/ptmx',
  '/dev/pts/ptmx': '5:2',
  '/dev/fd': '-> /proc/self/fd',
  '/dev/stdin': '-> /proc/self/fd/0',
  '/dev/stdout': '-> /proc/self/fd/1',
  '/dev/stderr': '-> /proc/self/fd/2',
  // Some runtimes make it; its target is masked.
  '/dev/core': '-> /proc/kcore',
  '/dev/pts': 'folder',
  '/dev/shm': 'folder',
  '/dev/mqueue': 'folder',
};
/** The sentry's own: neither leads out of it. */
const ofSentry: Readonly<Record<string, string>> = {
  '/dev/fuse': '10:229',
  '/dev/net': 'folder',
  '/dev/net/tun': '10:200',
};
const inGvisor: Readonly<Record<string, string>> = {
  ...known,
  ...ofSentry,
  // Newer sentries also name each device by its numbers, with a link to the device.
  '/dev/char': 'folder',
  ...Object.fromEntries(
    Object.entries({ ...known, ...ofSentry })
      .filter(([, what]) => /^\d/.test(what))
      .map(([path, numbers]) => [`/dev/char/${numbers}`, `-> ../${path.slice('/dev/'.length)}`]),
  ),
};
const always = ['/dev/null', '/dev/zero', '/dev/urandom'];

export function* deviceDifferences(devices: Records<'device'>, runtime: CellRuntime): Generator<string> {
  const allowed = runtime === 'gvisor' ? inGvisor : known;
  for (const device of devices) {
    const what = shown(device);
    if (allowed[device.path] !== what) yield `there is ${device.path} (${what}) in /dev`;
  }
  for (const path of always) if (!devices.some((one) => one.path === path)) yield `there is no ${path}`;
}

function shown({ mode, major, minor, target }: Records<'device'>[number]): string {
  switch (mode & kinds.mask) {
    case kinds.link:
      return `-> ${target}`;
    case kinds.folder:
      return 'folder';
    case kinds.character:
      return `${major}:${minor}`;
    default:
      return `mode ${mode.toString(8)}`;
  }
}

/** A block has nothing to read from, and pipes of its own. The child that takes the posture has no stderr. */
export function* fdDifferences(fds: Records<'fd'>): Generator<string> {
  for (const { fd, mode } of fds) {
    const kind = mode & kinds.mask;
    if (fd > 2) yield `the descriptor ${fd} is open`;
    else if (kind !== kinds.character && (fd === 0 || kind !== kinds.fifo))
      yield `the descriptor ${fd} is of mode ${mode.toString(8)}`;
  }
}
