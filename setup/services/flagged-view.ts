import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { command, must } from '../command.ts';
import { type Installation, placesIn } from '../settings/installation.ts';

const flags = ['nosuid', 'nodev', 'noexec'] as const;

/** The folder where the worker stages inputs: cells mount nothing else from the host but our own small files. */
export const stagedInputs = ({ home }: Pick<Installation, 'home'>) => join(placesIn(home).workerState, 'cache');

/** The flags of the mount at exactly this path in `/proc/self/mountinfo`; undefined if nothing is mounted there. */
export function flagsOf(mountinfo: string, path: string): string[] | undefined {
  // The kernel writes spaces and backslashes of a path as octal numbers.
  const written = path.replace(/[\s\\]/g, (c) => `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`);
  // The last mount at a path is the visible one.
  const line = mountinfo.split('\n').findLast((one) => one.split(' ')[4] === written);
  return line?.split(' ')[5]?.split(',');
}

export async function hasFlaggedView(installation: Pick<Installation, 'home'>): Promise<boolean> {
  // No such file: this is not Linux, or nothing was ever started.
  const [mountinfo, path] = await Promise.all([
    readFile('/proc/self/mountinfo', 'utf8').catch(() => ''),
    realpath(stagedInputs(installation)).catch(() => stagedInputs(installation)),
  ]);
  const there = flagsOf(mountinfo, path);
  return there !== undefined && flags.every((flag) => there.includes(flag));
}

export function commandForView(path: string): string {
  return `sudo mount --bind ${path} ${path} && sudo mount -o remount,bind,${flags.join(',')} ${path}`;
}

/**
 * A bind mount inherits its source's flags, and the engine can add only read-only. So the folder of staged inputs is
 * mounted onto itself with the flags that inputs should have in a cell. This needs root; without it inputs are only
 * read-only, and doctor and the posture say so.
 */
export async function ensureFlaggedView(installation: Pick<Installation, 'home'>): Promise<void> {
  const path = stagedInputs(installation);
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || (await hasFlaggedView(installation))) return;
  await must(['mount', '--bind', path, path]);
  await must(['mount', '-o', `remount,bind,${flags.join(',')}`, path]);
}

export async function removeFlaggedView(installation: Pick<Installation, 'home'>): Promise<void> {
  // An interrupted start may have left a mount without flags under another one.
  while (
    flagsOf(await readFile('/proc/self/mountinfo', 'utf8').catch(() => ''), stagedInputs(installation)) !== undefined
  ) {
    const { code } = await command(['umount', stagedInputs(installation)]);
    if (code !== 0) return;
  }
}
