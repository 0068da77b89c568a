import { chmod, copyFile, mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { checkout, placesIn } from '../settings/installation.ts';
import type { Builder, Say } from './build.ts';

/** The engine's names of architectures, and our names of the program for each. */
const suffixes: Readonly<Record<string, string>> = { amd64: 'x64', arm64: 'arm64' };

export const initFolder = (home: string) => join(placesIn(home).workerState, 'init');

/** Whether the files taken from the image are present and unchanged. */
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

/**
 * Cells mount cell-init from the host: one file for each architecture, and `cell-init` for the engine's own. Each file is
 * replaced whole, so running cells keep the one they have.
 */
export async function takeOutInit(
  home: string,
  image: { ref: string; architecture: string },
  builder: Builder,
  say: Say,
): Promise<Record<string, Digest>> {
  const folder = join(builder.scratch, 'cell-init');
  const context = join(checkout, 'images/cell-init');
  const dockerfile = join(context, 'copy.Dockerfile');
  await builder.files({ name: 'cell-init', dockerfile, context, arguments: { IMAGE: image.ref } }, folder, say);
  const suffix = suffixes[image.architecture] ?? image.architecture;
  await copyFile(join(folder, `cell-init-${suffix}`), join(folder, 'cell-init'));
  await mkdir(initFolder(home), { recursive: true, mode: 0o755 });
  const files: Record<string, Digest> = {};
  for (const name of (await readdir(folder)).toSorted()) {
    const path = join(folder, name);
    await chmod(path, 0o555);
    files[name] = sha256(await readFile(path));
    await rename(path, join(initFolder(home), name));
  }
  return files;
}
