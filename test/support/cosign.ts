import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { command, must } from '@hotcell/setup/command.ts';
import { addSources } from '@hotcell/setup/engine/packages.ts';
import { silent } from '@hotcell/setup/progress.ts';
import { withLock } from '@hotcell/setup/settings/installation-lock.ts';
import type { Bed } from './bed.ts';

const say = (line: string) => process.stderr.write(`${line}\n`);

/** The folder with Debian's cosign, which the tests' installation keeps. It is unpacked there and not installed. */
export async function cosignFolder({ installation }: Bed): Promise<string> {
  const folder = join(installation.home, 'tools', 'cosign-trixie');
  await mkdir(join(installation.home, 'tools'), { recursive: true });
  await withLock(`${folder}.lock`, silent, () => unpack(folder));
  return join(folder, 'usr/bin');
}

async function unpack(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  const half = `${folder}.half`;
  await rm(half, { recursive: true, force: true });
  await mkdir(half, { recursive: true });
  await download(half);
  for (const name of await readdir(half)) await must(['dpkg', '--extract', join(half, name), half]);
  await rename(half, folder);
}

/** The lists of packages may be missing or old. */
async function download(folder: string): Promise<void> {
  const fetch = [
    'sh',
    '-c',
    'cd "$1" && apt-get -o Acquire::Retries=3 -q download cosign/trixie',
    'sh',
    folder,
  ] as const;
  if ((await command(fetch)).code === 0) return;
  await addSources(say);
  await must(['apt-get', '-o', 'Acquire::Retries=3', 'update']);
  await must(fetch);
}
