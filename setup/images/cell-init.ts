import { chmod, mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { placesIn } from '../settings/installation.ts';
import { build, type Say } from './docker.ts';

export const initFolder = (home: string) => join(placesIn(home).workerState, 'init');

/** Whether what was taken out of the image is there and unchanged. */
export async function isTakenOut(home: string, files: Readonly<Record<string, Digest>> | undefined): Promise<boolean> {
  if (!files) return false;
  const checks = Object.entries(files).map(async ([name, digest]) => {
    const bytes = await readFile(join(initFolder(home), name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    return bytes !== undefined && sha256(bytes) === digest;
  });
  return (await Promise.all(checks)).every(Boolean);
}

/** cell-init is mounted into cells from the host. Each file is put in place whole: running cells keep the old one. */
export async function takeOutInit(
  home: string,
  ref: string,
  more: { scratch: string; certificates: string; say: Say },
): Promise<Record<string, Digest>> {
  const folder = join(more.scratch, 'cell-init');
  await build({
    name: 'cell-init',
    dockerfile: join(import.meta.dirname, '../../images/cell-init/copy.Dockerfile'),
    context: join(import.meta.dirname, '../../images/cell-init'),
    arguments: { IMAGE: ref },
    to: { folder },
    certificates: more.certificates,
    say: more.say,
  });
  await mkdir(initFolder(home), { recursive: true, mode: 0o755 });
  const files: Record<string, Digest> = {};
  for (const name of (await readdir(folder)).toSorted()) {
    const path = join(folder, name);
    await chmod(path, 0o755);
    files[name] = sha256(await readFile(path));
    await rename(path, join(initFolder(home), name));
  }
  return files;
}
