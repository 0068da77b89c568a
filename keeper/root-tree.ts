import { createHash } from 'node:crypto';
import {
  createReadStream,
  type Dirent,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Digest } from '@hotcell/contract/digest.ts';
import { mountFiles, mountFolders } from '@hotcell/contract/cell-shape.ts';

/** gVisor mounts on the root itself, before there is a sysfs. */
const folders: readonly string[] = [...mountFolders, '/sys/devices'];

/**
 * A root is read-only and shared by all its cells, so what they mount on has to be there before. Returns why that can't
 * be: a link there would lead the mount elsewhere.
 */
export function makeMountPoints(root: string): string | undefined {
  for (const path of [...folders, ...mountFiles]) {
    const wantsFolder = folders.includes(path);
    const found = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (found === undefined) {
      if (wantsFolder) mkdirSync(join(root, path), { mode: 0o755 });
      else writeFileSync(join(root, path), '', { mode: 0o444 });
    } else if (found.isSymbolicLink())
      return `${path} is a link to ${JSON.stringify(readlinkSync(join(root, path)))}, but a cell mounts there`;
    else if (found.isDirectory() !== wantsFolder)
      return `${path} is ${wantsFolder ? 'not ' : ''}a folder, but a cell mounts there`;
  }
  return undefined;
}

/** The digest of a tree's listing, in the order of its paths: each with its mode, owner, size, and content or target. */
export async function treeOf(root: string): Promise<{ digest: Digest; entries: number }> {
  const listing = createHash('sha256');
  let entries = 0;
  const walk = async (folder: string): Promise<void> => {
    const found = readdirSync(join(root, folder), { withFileTypes: true });
    for (const entry of found.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = `${folder}/${entry.name}`;
      const stats = lstatSync(join(root, path));
      entries++;
      const { mode, uid, gid } = stats;
      listing.update(`${JSON.stringify([path, mode, uid, gid, await contentOf(join(root, path), entry, stats)])}\n`);
      if (entry.isDirectory()) await walk(path);
    }
  };
  await walk('');
  return { digest: `sha256:${listing.digest('hex')}`, entries };
}

async function contentOf(path: string, entry: Dirent, { size, rdev }: Stats): Promise<(string | number)[]> {
  if (entry.isDirectory()) return [];
  if (entry.isSymbolicLink()) return [readlinkSync(path)];
  if (!entry.isFile()) return [rdev];
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return [size, hash.digest('hex')];
}
