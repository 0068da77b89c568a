import { join } from 'node:path';
import {
  cellMemory,
  cellPids,
  cpuPeriodUs,
  cpuQuotaUs,
  initRlimits,
  tmpfsOf,
  tmpfsOptions,
} from '@hotcell/contract/cell-bounds.ts';
import {
  type CellRuntime,
  hostname,
  initCapabilities,
  initPath,
  maskedPaths,
  readonlyPaths,
  sysctlsOf,
} from '@hotcell/contract/cell-shape.ts';
import type { Limits } from '@hotcell/contract/limits.ts';
import { blockIo, type DiskBounds } from './disks.ts';

/** Everything that a bundle is made from. No field of it is a text of the worker's, except a place below /inputs. */
export interface BundleParts {
  runtime: CellRuntime;
  limits: Limits;
  /** The image's unpacked root, as the cell's own mount. */
  root: string;
  /** The cell's own copies of init and of the files that every cell has. */
  files: readonly { source: string; target: string }[];
  inputs: readonly { source: string; target: string }[];
  seccomp: unknown;
  /** Undefined if disks are not bounded. */
  disks: DiskBounds | undefined;
  /** The cell's own devices, for a runtime that would mount the host's. */
  devices: string | undefined;
  cgroup: string;
  /** The cell's own folders in hierarchies of version 1, by controller. */
  hierarchies: Readonly<Record<string, string>> | undefined;
  /** The host's uid and gid that the cell's 0 is; undefined if the cell has no user namespace. */
  idBase: number | undefined;
}

/** How many ids a cell's user namespace has. */
export const idCount = 65_536;

const kept = ['nosuid', 'noexec', 'nodev'];
/** Those that every runtime makes: none leads to the host. Terminals are not among them, since a host has so many for all. */
export const harmlessDevices = [
  { name: 'null', major: 1, minor: 3 },
  { name: 'zero', major: 1, minor: 5 },
  { name: 'full', major: 1, minor: 7 },
  { name: 'random', major: 1, minor: 8 },
  { name: 'urandom', major: 1, minor: 9 },
  { name: 'tty', major: 5, minor: 0 },
] as const;

/** Parts → the runtime's config.json: everything a runtime is told about a cell, and the only place that says it. */
export function bundleOf(parts: BundleParts) {
  const { runtime, limits, idBase } = parts;
  const memory = cellMemory(parts);
  const capabilities = initCapabilities.map((name) => `CAP_${name}`);
  const ids = idBase === undefined ? [] : [{ containerID: 0, hostID: idBase, size: idCount }];
  const namespaces = ['pid', 'network', 'ipc', 'uts', 'mount', 'cgroup', ...(idBase === undefined ? [] : ['user'])];
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: { uid: 0, gid: 0 },
      args: [initPath],
      env: [] as string[],
      cwd: '/',
      capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
      rlimits: initRlimits(limits).map(({ name, value }) => ({
        type: `RLIMIT_${name.toUpperCase()}`,
        soft: value,
        hard: value,
      })),
      noNewPrivileges: true,
      oomScoreAdj: 500,
    },
    root: { path: parts.root, readonly: true },
    hostname,
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc', options: kept },
      deviceMount(parts.devices),
      {
        destination: '/dev/pts',
        type: 'devpts',
        source: 'devpts',
        options: ['nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620'],
      },
      { destination: '/sys', type: 'sysfs', source: 'sysfs', options: [...kept, 'ro'] },
      ...cgroupMounts(parts.hierarchies),
      { destination: '/dev/mqueue', type: 'mqueue', source: 'mqueue', options: kept },
      ...Object.entries(tmpfsOf(limits)).map(([destination, one]) => ({
        destination,
        type: 'tmpfs',
        source: 'tmpfs',
        options: ['rw', ...tmpfsOptions(one)],
      })),
      ...parts.files.map(({ source, target }) => readOnly(source, target, target === initPath ? [] : ['noexec'])),
      ...parts.inputs.map(({ source, target }) => readOnly(source, target, ['noexec'])),
    ],
    linux: {
      namespaces: namespaces.map((type) => ({ type })),
      ...(idBase !== undefined && { uidMappings: ids, gidMappings: ids }),
      // gVisor makes its own, and refuses some of these.
      ...(runtime === 'runc' && { sysctl: sysctlsOf(limits.scratchBytes) }),
      cgroupsPath: parts.cgroup,
      resources: {
        devices: [
          { allow: false, access: 'rwm' },
          ...harmlessDevices.map(({ major, minor }) => ({ allow: true, type: 'c', major, minor, access: 'rwm' })),
        ],
        memory: { limit: memory, swap: memory },
        cpu: { quota: cpuQuotaUs(limits.cpus), period: cpuPeriodUs },
        pids: { limit: cellPids(parts) },
        ...(parts.disks && { blockIO: blockIo(parts.disks) }),
      },
      seccomp: parts.seccomp,
      maskedPaths,
      readonlyPaths,
    },
  };
}

/**
 * The view of its own cgroup from which init takes the kernel's account. With version 1, crun would mount every hierarchy,
 * and above them a folder in which every user can write: so these few are mounted one by one.
 */
function cgroupMounts(hierarchies: Readonly<Record<string, string>> | undefined) {
  const destination = '/sys/fs/cgroup';
  if (hierarchies === undefined) return [{ destination, type: 'cgroup', source: 'cgroup', options: [...kept, 'ro'] }];
  return [
    { destination, type: 'tmpfs', source: 'tmpfs', options: [...kept, 'mode=755', 'size=4k', 'nr_inodes=16'] },
    ...Object.entries(hierarchies).map(([name, source]) => readOnly(source, join(destination, name), ['noexec'])),
  ];
}

/** gVisor's devices are the sentry's own. */
function deviceMount(folder: string | undefined) {
  const destination = '/dev';
  return folder === undefined
    ? { destination, type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'strictatime', 'mode=755', 'size=65536k'] }
    : { destination, type: 'bind', source: folder, options: ['bind', 'ro', 'nosuid', 'noexec', 'rprivate'] };
}

function readOnly(source: string, destination: string, more: readonly string[]) {
  return { destination, type: 'bind', source, options: ['bind', 'ro', 'nosuid', 'nodev', 'rprivate', ...more] };
}
