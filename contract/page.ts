import { readFileSync } from 'node:fs';

const pagesTag = 6n;
const usual = 4096;

/** The machine's page size, as the kernel told this process when it started: AT_PAGESZ of its auxiliary vector. */
export function pageBytesIn(auxv: Buffer): number {
  for (let at = 0; at + 16 <= auxv.length; at += 16)
    if (auxv.readBigUInt64LE(at) === pagesTag) return Number(auxv.readBigUInt64LE(at + 8));
  return usual;
}

function ofThisMachine(): number {
  try {
    return pageBytesIn(readFileSync('/proc/self/auxv'));
  } catch (error) {
    // Not Linux: no cell is made here.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return usual;
    throw error;
  }
}

/** The kernel counts memory in these. A worker and its cells have the same kernel. */
export const pageBytes = ofThisMachine();

/** The smallest page of any machine: what doesn't fit with these fits on none. */
export const smallestPageBytes = 4096;

export const roundedUp = (bytes: number, page: number): number => Math.ceil(bytes / page) * page;
