import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { digestOf, hexOf, sha256 } from '@hotcell/contract/digest.ts';

/** Every file of a build's context with what the build can see of it: its content, and whether it is executable. */
export async function contextFiles(root: string, paths: readonly string[]): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const visit = async (path: string): Promise<void> => {
    const full = join(root, path);
    const status = await lstat(full).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (status?.isDirectory()) {
      const names = (await readdir(full)).filter((name) => name !== 'node_modules');
      await Promise.all(names.map((name) => visit(join(path, name))));
    } else if (status?.isSymbolicLink()) files[path] = `link ${await readlink(full)}`;
    else if (status?.isFile()) files[path] = `${status.mode & 0o100 ? 'x' : '-'} ${sha256(await readFile(full))}`;
  };
  await Promise.all(paths.map((path) => visit(path)));
  return files;
}

export interface Ingredients {
  name: string;
  architecture: string;
  files: Readonly<Record<string, string>>;
  /** Build arguments: digests of the images that this one is based on. */
  parents: Readonly<Record<string, string>>;
}

/** The same ingredients always have the same tag, so an image that exists need not be built again. */
export function contentTag(ingredients: Ingredients): string {
  return hexOf(digestOf({ version: 1, ...ingredients })).slice(0, 20);
}

export const refOf = (name: string, tag: string) => `hotcell/${name}:${tag}`;
