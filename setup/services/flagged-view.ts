import { mkdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { command, must } from '../command.ts';
import { type Installation, placesIn } from '../settings/installation.ts';

const flags = ['nosuid', 'nodev', 'noexec'] as const;

/** Where the worker lays out inputs: everything a cell mounts from the host but our own small files lies below it. */
export const stagedInputs = ({ home }: Pick<Installation, 'home'>) => join(placesIn(home).workerState, 'cache');

/** The flags of the mount at this very path in `/proc/self/mountinfo`; undefined when nothing is mounted there. */
export function flagsOf(mountinfo: string, path: string): string[] | undefined {
  // The kernel writes blanks and backslashes of a path as octal numbers.
  const written = path.replace(/[\s\\]/g, (c) => `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`);
  // The last one mounted is the one that is seen.
  const line = mountinfo.split('\n').findLast((one) => one.split(' ')[4] === written);
  return line?.split(' ')[5]?.split(',');
}

export async function hasFlaggedView(installation: Pick<Installation, 'home'>): Promise<boolean> {
  // No such file: no Linux, or nothing was ever started.
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
 * A mount takes over the flags of what it is made from, and the engine can ask for none but read-only: so the folder of
 * staged inputs is mounted onto itself with the flags that inputs should have in a cell. It takes root; without it
 * inputs are only read-only, as doctor and the posture say.
 */
export async function ensureFlaggedView(installation: Pick<Installation, 'home'>): Promise<void> {
  const path = stagedInputs(installation);
  await mkdir(path, { recursive: true, mode: 0o711 });
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || (await hasFlaggedView(installation))) return;
  await must(['mount', '--bind', path, path]);
  await must(['mount', '-o', `remount,bind,${flags.join(',')}`, path]);
}

export async function removeFlaggedView(installation: Pick<Installation, 'home'>): Promise<void> {
  // An interrupted start may have left a first mount without flags, under a second one.
  while (
    flagsOf(await readFile('/proc/self/mountinfo', 'utf8').catch(() => ''), stagedInputs(installation)) !== undefined
  ) {
    const { code } = await command(['umount', stagedInputs(installation)]);
    if (code !== 0) return;
  }
}
