import { closeSync, constants, mkdirSync, openSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { openBelow } from './below.ts';
import { runProgram } from './run-program.ts';

const inputPlace = (folder: string, index: number) => join(folder, `input-${index}`);
const rootPlace = (folder: string) => join(folder, 'root');

/**
 * What a runtime finds mounted in the cell's own folder. No other process of the host sees these mounts: the program
 * `cell-mounts` makes them in a mount namespace of its own and then becomes the runtime.
 */
export interface CellMounts {
  root: string;
  /** Where each input is, in the order in which they were asked for. */
  inputs: readonly string[];
  /** Open folders and a device. A path could lead elsewhere by the time it is used. */
  open: readonly number[];
  /** What stands before the runtime's own words, once what is open are its descriptors from 3 upwards. */
  words: readonly string[];
}

/**
 * The image's root gets an overlay of the cell's own: a lock or a watch on a file of it is then on this mount's file, and
 * not on one that all cells of the image share. Inputs are opened step by step below the staging folder.
 */
export function planMounts(
  { root, folder, staging, devices }: { root: string; folder: string; staging: string; devices: string | undefined },
  inputs: readonly (readonly string[])[],
): CellMounts {
  const own = rootPlace(folder);
  const places = inputs.map((_, index) => inputPlace(folder, index));
  for (const place of [own, ...places]) mkdirSync(place, { mode: 0o755 });
  const open: { fd: number; place: string }[] = [];
  try {
    // crun covers masked files with the /dev/null that it finds. One that cells share would carry bits by its locks.
    if (devices !== undefined)
      open.push({ fd: openSync(join(devices, 'null'), constants.O_RDONLY), place: '/dev/null' });
    for (const [index, steps] of inputs.entries())
      open.push({ fd: openBelow(staging, steps), place: inputPlace(folder, index) });
  } catch (error) {
    for (const { fd } of open) closeSync(fd);
    throw error;
  }
  const bound = open.flatMap(({ place }, index) => [String(firstFree + index), place]);
  // Two layers, because one alone can't be mounted without a writable one.
  const words = ['cell-mounts', `lowerdir=${join(folder, 'inputs')}:${root}`, own, ...bound, '--'];
  return { root: own, inputs: places, open: open.map(({ fd }) => fd), words };
}

/** Behind stdin, stdout and stderr. */
const firstFree = 3;

/**
 * False if something is mounted where a cell's mounts were: then its folder must not be removed, because a removal would
 * reach through it. Only cells of a keeper before this version have mounts that others see.
 */
export async function freePlaces(folder: string, inputs: number): Promise<boolean> {
  const places = [rootPlace(folder), ...Array.from({ length: inputs }, (_, index) => inputPlace(folder, index))];
  if (places.map(removePlace).every(Boolean)) return true;
  await runProgram(['umount', '--no-canonicalize', '--lazy', ...places], 'ignore');
  return places.map(removePlace).every(Boolean);
}

/** The kernel removes no folder on which something is mounted, and no folder that has entries. */
function removePlace(place: string): boolean {
  try {
    rmdirSync(place);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
