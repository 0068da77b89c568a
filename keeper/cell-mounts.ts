import { closeSync, mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { openBelow } from './below.ts';
import { runProgram } from './run-program.ts';

const inputPlace = (folder: string, index: number) => join(folder, `input-${index}`);
const rootPlace = (folder: string) => join(folder, 'root');

async function mount(what: string, words: readonly string[], ...fds: number[]): Promise<void> {
  const { code, said } = await runProgram(
    ['mount', '--no-canonicalize', ...words],
    ['ignore', 'ignore', 'pipe', ...fds],
  );
  if (code !== 0) throw new HotcellError('cell_failed', `${what} could not be mounted: ${said || `exit ${code}`}.`);
}

/**
 * The image's root as a mount of the cell's own: a lock or a watch on a file of it is then on this mount's file, and not
 * on one that all cells of the image share.
 */
export async function mountRoot(root: string, folder: string): Promise<string> {
  const [place, nothing] = [rootPlace(folder), join(folder, 'inputs')];
  mkdirSync(place, { mode: 0o755 });
  // Two layers, because one alone can't be mounted without a writable one.
  const options = `ro,nosuid,nodev,lowerdir=${nothing}:${root}`;
  await mount('The root', ['-t', 'overlay', '-o', options, 'overlay', place]);
  return place;
}

/**
 * Mounts the folders at these steps below the staging folder into the cell's own folder, by their open descriptors. A
 * runtime can't be given a descriptor of another mount namespace, and a path could lead elsewhere by the time it is used.
 */
export async function mountInputs(
  staging: string,
  folder: string,
  inputs: readonly (readonly string[])[],
): Promise<string[]> {
  const opened: number[] = [];
  try {
    for (const steps of inputs) opened.push(openBelow(staging, steps));
    const mounting = opened.map(async (fd, index) => {
      const place = inputPlace(folder, index);
      mkdirSync(place, { mode: 0o755 });
      await mount('An input', ['--bind', '/proc/self/fd/3', place], fd);
      return place;
    });
    // One that fails must not leave others at work.
    await Promise.allSettled(mounting);
    return await Promise.all(mounting);
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/** False if something is still mounted: then the folder must not be removed, because a removal would reach through it. */
export async function unmountAll(folder: string, inputs: number): Promise<boolean> {
  const places = [rootPlace(folder), ...Array.from({ length: inputs }, (_, index) => inputPlace(folder, index))];
  // Its answer says little: of a cell that could not be made, not everything was mounted.
  await runProgram(['umount', '--no-canonicalize', '--lazy', ...places], 'ignore');
  return places.every(removePlace);
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
