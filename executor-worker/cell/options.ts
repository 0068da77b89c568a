import type { CreateOptions } from '@hotcell/outside/engine/engine.ts';
import type { CellPlan, Mount } from './cell-plan.ts';
import { deadlineOf, cellMemory, cellPids, rlimitsOf, type Tmpfs, tmpfsOf } from './cell-bounds.ts';
import { type DiskBounds, diskOptions } from './disk-bounds.ts';
import { pageBytes } from './page.ts';

/** Where a cell is made, by which worker, and from which image. */
export interface CellSite {
  /** The cell's own id. It is random, and names its folder on the host. */
  id: string;
  uid: number;
  installation: string;
  worker: string;
  createdAt: Date;
  /** The image's own id, which the engine runs, and the names of the variables that it sets. */
  imageId: string;
  imageVariables: readonly string[];
  /** Files of the host that every cell sees, read-only. */
  files: readonly Mount[];
  disks: DiskBounds;
  /** The text of the profile for this runtime and architecture. */
  seccomp: string;
}

export const hostname = 'cell';
export const initPath = '/cell-init';
export const initCapabilities = ['KILL', 'SETGID', 'SETPCAP', 'SETUID'] as const;

export const containerName = (uid: number) => `hotcell-cell-${uid}`;

/** Docker's names of the runtimes. */
const runtimeNames = { runc: 'runc', gvisor: 'runsc' } as const;

/** Docker's own list, which this one replaces, and other paths that show the host rather than the cell. */
export const maskedPaths = [
  '/proc/acpi',
  '/proc/asound',
  '/proc/kcore',
  '/proc/keys',
  '/proc/key-users',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/proc/interrupts',
  '/proc/cmdline',
  '/proc/config.gz',
  '/proc/kallsyms',
  '/proc/modules',
  '/proc/diskstats',
  '/proc/partitions',
  '/proc/swaps',
  '/proc/sys/kernel/random/boot_id',
  '/sys/firmware',
  '/sys/block',
  '/sys/class',
  '/sys/bus',
  '/sys/module',
  '/sys/kernel',
  '/sys/fs/ext4',
  '/dev/mqueue',
  // The host has so many terminals for all, and each loads what its job asks for.
  '/dev/pts',
];
export const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

function tmpfsOptions(one: Tmpfs): string {
  const flags = one.exec ? 'rw,exec,nosuid,nodev' : 'rw,noexec,nosuid,nodev';
  return `${flags},size=${one.bytes},nr_inodes=${one.inodes},mode=${one.mode}`;
}

/** By these the reaper finds what is left of a cell, or of a look into an image (which no worker owns). */
export const cellLabels = (installation: string, worker: string, deadline: Date) => ({
  'hotcell.managed': '1',
  'hotcell.installation': installation,
  'hotcell.role': 'cell',
  'hotcell.worker': worker,
  'hotcell.deadline': deadline.toISOString(),
});

function labelsOf(plan: CellPlan, site: CellSite): Record<string, string> {
  // Always all of them: a label that is missing here could come from the image.
  return {
    ...cellLabels(site.installation, site.worker, deadlineOf(plan.limits, site.createdAt)),
    'hotcell.cell': site.id,
    'hotcell.run': plan.run,
    'hotcell.attempt': String(plan.attempt),
  };
}

/** Policy → container: everything the engine is told about a cell, and the only place that says it. */
export function containerOptions(plan: CellPlan, site: CellSite): CreateOptions {
  const { limits } = plan;
  const memory = cellMemory(plan);
  return {
    Image: site.imageId,
    Entrypoint: [initPath],
    Cmd: [],
    User: '0:0',
    WorkingDir: '/',
    // A name without a value removes the variable: init and the engine's helpers see none of the image's.
    Env: [...site.imageVariables],
    Hostname: hostname,
    Domainname: '',
    Healthcheck: { Test: ['NONE'] },
    StopSignal: 'SIGKILL',
    Labels: labelsOf(plan, site),
    NetworkDisabled: true,
    Tty: false,
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      Runtime: runtimeNames[plan.runtime],
      NetworkMode: 'none',
      IpcMode: 'private',
      CgroupnsMode: 'private',
      PidMode: '',
      UTSMode: '',
      UsernsMode: '',
      Privileged: false,
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      CapAdd: [...initCapabilities],
      SecurityOpt: ['no-new-privileges', `seccomp=${site.seccomp}`],
      MaskedPaths: maskedPaths,
      ReadonlyPaths: readonlyPaths,
      Tmpfs: Object.fromEntries(Object.entries(tmpfsOf(limits)).map(([path, one]) => [path, tmpfsOptions(one)])),
      Mounts: [...site.files, ...plan.mounts].map(({ source, target }) => ({
        Type: 'bind' as const,
        Source: source,
        Target: target,
        ReadOnly: true,
        BindOptions: { Propagation: 'rprivate' as const },
      })),
      Memory: memory,
      MemorySwap: memory,
      CpuPeriod: 100_000,
      CpuQuota: Math.max(1000, Math.round(limits.cpus * 100_000)),
      PidsLimit: cellPids(plan),
      ...diskOptions(site.disks),
      OomScoreAdj: 500,
      // Init can't raise a limit, only lower it for its children. FSIZE and NPROC are for the job alone.
      Ulimits: rlimitsOf(limits)
        .filter(({ name }) => name !== 'fsize' && name !== 'nproc')
        .map(({ name, value }) => ({ Name: name, Soft: value, Hard: value })),
      Sysctls: {
        'kernel.shmmax': String(limits.scratchBytes),
        'kernel.shmall': String(Math.ceil(limits.scratchBytes / pageBytes)),
        // A segment goes with its last user, so that no job leaves memory behind that init can't free.
        'kernel.shm_rmid_forced': '1',
        'fs.mqueue.queues_max': '0',
      },
      LogConfig: { Type: 'none', Config: {} },
      RestartPolicy: { Name: 'no' },
      AutoRemove: false,
      Init: false,
    },
  };
}
