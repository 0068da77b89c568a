import { chmodSync, lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';

/** Setuid, setgid and sticky of files: nothing in a cell gains by them, and nothing on the host should. */
const ofFile = 0o777;
/** A folder for everyone stays one in which each removes only what is its own. */
const ofFolder = 0o1777;

/** The bits of an entry's mode that a root keeps. */
export function plainMode(stats: Stats): number {
  return stats.mode & (stats.isDirectory() ? ofFolder : ofFile);
}

/** Takes all other bits from everything in an unpacked root. No link is followed. */
export function makeModesPlain(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stats = lstatSync(path);
    if (stats.isSymbolicLink()) continue;
    if ((stats.mode & 0o7777) !== plainMode(stats)) chmodSync(path, plainMode(stats));
    if (stats.isDirectory()) makeModesPlain(path);
  }
}
