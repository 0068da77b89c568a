import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DiskRates, diskRates, isDisk } from '@hotcell/contract/disk-rates.ts';

interface Disk {
  major: number;
  minor: number;
}

/** How fast each cell may use each disk of this host. */
export interface DiskBounds extends DiskRates {
  disks: readonly Disk[];
}

/** Whole disks that have a size: the kernel bounds no partition. */
function disksIn(folder: string): Disk[] {
  const read = (name: string, file: string) => readFileSync(join(folder, name, file), 'utf8').trim();
  const names = readdirSync(folder).filter((name) => isDisk(name) && Number(read(name, 'size')) > 0);
  return names.toSorted().map((name) => {
    const [major = 0, minor = 0] = read(name, 'dev').split(':').map(Number);
    return { major, minor };
  });
}

/** Undefined if the kernel can't bound them here, or the operator does not want it. */
export function diskBounds(
  bytesPerSecond: number,
  cgroups: { boundsDisks: boolean },
  folder = '/sys/block',
): DiskBounds | undefined {
  if (bytesPerSecond === 0 || !cgroups.boundsDisks) return undefined;
  return { ...diskRates(bytesPerSecond), disks: disksIn(folder) };
}

/** As the bundle says it. */
export function blockIo({ disks, bytes, operations }: DiskBounds) {
  const each = (rate: number) => disks.map((disk) => ({ ...disk, rate }));
  return {
    throttleReadBpsDevice: each(bytes),
    throttleWriteBpsDevice: each(bytes),
    throttleReadIOPSDevice: each(operations),
    throttleWriteIOPSDevice: each(operations),
  };
}

/** The lines of a cgroup's files that must be there, in both versions' words, by the file's name. */
export function wantedLines({ disks, bytes, operations }: DiskBounds): Record<1 | 2, Record<string, string[]>> {
  const each = (rate: string) => disks.map(({ major, minor }) => `${major}:${minor} ${rate}`);
  const first = {
    read_bps: bytes,
    write_bps: bytes,
    read_iops: operations,
    write_iops: operations,
  };
  return {
    1: Object.fromEntries(
      Object.entries(first).map(([name, rate]) => [`blkio/blkio.throttle.${name}_device`, each(String(rate))]),
    ),
    2: { 'io.max': each(`rbps=${bytes} wbps=${bytes} riops=${operations} wiops=${operations}`) },
  };
}
