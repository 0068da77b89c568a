import { pageBytes } from './page.ts';

/** What is the same in every cell, whatever made it. */
export type CellRuntime = 'runc' | 'gvisor';

export const hostname = 'cell';
export const initPath = '/cell-init';
export const initCapabilities = ['KILL', 'SETGID', 'SETPCAP', 'SETUID'] as const;

/** Paths that show the host rather than the cell. */
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

/** Files in place of the image's: they name no host and no resolver, and the job's user. */
export function etcFiles(uid: number): Readonly<Record<string, string>> {
  return {
    hosts: '127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n',
    hostname: `${hostname}\n`,
    'resolv.conf': '# This cell has no network: nothing is resolved.\n',
    passwd: `root:x:0:0:root:/root:/usr/sbin/nologin\njob:x:${uid}:${uid}:job:/work:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
    group: `root:x:0:\njob:x:${uid}:\nnogroup:x:65534:\n`,
  };
}

export function sysctlsOf(scratchBytes: number): Readonly<Record<string, string>> {
  return {
    'kernel.shmmax': String(scratchBytes),
    'kernel.shmall': String(Math.ceil(scratchBytes / pageBytes)),
    // A segment goes with its last user, so that no job leaves memory behind that init can't free.
    'kernel.shm_rmid_forced': '1',
    'fs.mqueue.queues_max': '0',
  };
}

/** Where programs look for the number of processors: the host's own is hidden with all its devices. */
export function processorFiles(cpus: number): Readonly<Record<string, string>> {
  const range = cpus === 1 ? '0' : `0-${cpus - 1}`;
  return Object.fromEntries(['online', 'possible'].map((name) => [name, `${range}\n`]));
}

/** Where a cell mounts: an image must have a folder there, or nothing. */
export const mountFolders = [
  '/work',
  '/outputs',
  '/inputs',
  '/tmp',
  '/dev',
  '/dev/shm',
  '/etc',
  '/proc',
  '/sys',
] as const;
/** And here a file, or nothing. */
export const mountFiles = [...Object.keys(etcFiles(0)).map((name) => `/etc/${name}`), initPath] as const;
