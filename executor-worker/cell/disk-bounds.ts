import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { diskRates, isDisk } from '@hotcell/contract/disk-rates.ts';
import type { CreateOptions } from '@hotcell/outside/engine/engine.ts';

/** How fast a cell may use the host's disks, which all cells share. */
export interface DiskBounds {
  /** Their paths on the host. None if the kernel can't bound them, or the operator does not want it. */
  disks: readonly string[];
  /** Of each disk: read, and written. */
  bytesPerSecond: number;
}

export function diskOptions({ disks, bytesPerSecond }: DiskBounds): Partial<NonNullable<CreateOptions['HostConfig']>> {
  const each = (Rate: number) => disks.map((Path) => ({ Path, Rate }));
  const { bytes, operations } = diskRates(bytesPerSecond);
  return {
    BlkioDeviceReadBps: each(bytes),
    BlkioDeviceWriteBps: each(bytes),
    BlkioDeviceReadIOps: each(operations),
    BlkioDeviceWriteIOps: each(operations),
  };
}

/** Whole disks that have a size: the kernel bounds no partition. */
export async function disksIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter(isDisk).toSorted();
  const sizes = await Promise.all(names.map((name) => readFile(join(folder, name, 'size'), 'utf8')));
  return names.filter((_, i) => Number(sizes[i]) > 0).map((name) => `/dev/${name.replaceAll('!', '/')}`);
}
