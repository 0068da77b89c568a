/** Many small operations keep a disk as busy as many bytes do. */
const bytesPerOperation = 16 * 1024;

/** How fast one cell may use a disk of the host, which all cells share: what it reads, and what it writes. */
export interface DiskRates {
  bytes: number;
  operations: number;
}

export function diskRates(bytesPerSecond: number): DiskRates {
  return { bytes: bytesPerSecond, operations: Math.max(1, Math.floor(bytesPerSecond / bytesPerOperation)) };
}

/** Memory that looks like a disk, and files: what these read from a disk counts there. */
const notDisks = /^(loop|ram|zram|sr|fd)\d/;

/** Of a name in /sys/block. */
export const isDisk = (name: string): boolean => !notDisks.test(name);
