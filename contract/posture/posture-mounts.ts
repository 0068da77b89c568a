import type { ExpectedPosture } from './posture-expected.ts';
import { isMask } from './posture-hidden.ts';
import type { Records } from './posture-inside.ts';

type Mount = Records<'mount'>[number];

/** Where the kernel's own file systems may be. Only root could write to the writable ones. */
const ownFilesystems: Readonly<Record<string, readonly string[]>> = {
  '/proc': ['proc'],
  '/dev': ['tmpfs'],
  '/dev/pts': ['devpts'],
  '/dev/mqueue': ['mqueue'],
  '/sys': ['sysfs'],
  '/sys/fs/cgroup': ['tmpfs', 'cgroup2'],
};

/** Every mount must be a known one, and every mount we asked for must be there. */
export function* mountDifferences(mounts: Records<'mount'>, expected: ExpectedPosture): Generator<string> {
  const points = new Set(mounts.map(({ point }) => point));
  for (const point of ['/', ...Object.keys(expected.tmpfs), ...expected.readOnly])
    if (!points.has(point)) yield `nothing is mounted at ${point}`;
  for (const mount of mounts) {
    const problem = problemOf(mount, expected);
    if (problem !== undefined) yield `the mount ${mount.point} ${problem}`;
  }
}

function problemOf(mount: Mount, expected: ExpectedPosture): string | undefined {
  const { point, fstype } = mount;
  const tmpfs = expected.tmpfs[point];
  if (tmpfs) return scratchProblem(mount, tmpfs, expected.runtime);
  if (point === '/' || expected.readOnly.includes(point)) return isReadOnly(mount) ? undefined : 'is writable';
  if (ownFilesystems[point]?.includes(fstype)) return undefined;
  // Newer sentries have a file system of their own for devices.
  if (point === '/dev' && fstype === 'dev' && expected.runtime === 'gvisor') return undefined;
  if (point.startsWith('/sys/fs/cgroup/') && fstype === 'cgroup')
    // The sentry's are its own: they limit nothing on the host, and belong to its root.
    return isReadOnly(mount) || expected.runtime === 'gvisor' ? undefined : 'is writable';
  if (expected.masked.includes(point)) return isMask(mount) ? undefined : 'is not masked';
  return `is not one of ours (${fstype})`;
}

function scratchProblem(
  mount: Mount,
  wanted: ExpectedPosture['tmpfs'][string],
  runtime: ExpectedPosture['runtime'],
): string | undefined {
  const options = new Set(mount.options.split(','));
  if (mount.fstype !== 'tmpfs') return `is ${mount.fstype} and should be tmpfs`;
  if (mount.bytes !== wanted.bytes) return `holds ${mount.bytes} bytes and should hold ${wanted.bytes}`;
  if (options.has('noexec') === wanted.exec) return `should ${wanted.exec ? 'let' : 'not let'} programs run`;
  // gVisor has no limit of inodes and does not report nodev, older versions not even nosuid: it honours neither setuid
  // nor devices there.
  if (runtime === 'gvisor') return undefined;
  if (mount.inodes !== wanted.inodes) return `holds ${mount.inodes} files and should hold ${wanted.inodes}`;
  for (const option of ['nosuid', 'nodev']) if (!options.has(option)) return `is not ${option}`;
  return undefined;
}

function isReadOnly({ options }: Mount): boolean {
  return options.split(',').includes('ro');
}
