import type { SnapshotEntry } from '@hotcell/contract/snapshot.ts';

/** The usual block and inode of a file system. A disk that differs reports itself full sooner or later, which is handled. */
const blockBytes = 4096;
const inodeBytes = 512;
/** A link to a file in its folder, and its line in the manifest. */
const linkBytes = 256;

/** What a file of this size takes on the disk: a million files of one byte take four gigabytes. */
export const fileUse = (size: number): number => Math.ceil(size / blockBytes) * blockBytes + inodeBytes;

/** What so many files of so many bytes in sum take at most. */
export const mostFileUse = ({ files, bytes }: { files: number; bytes: number }): number =>
  bytes + files * (blockBytes + inodeBytes);

/** What a tree takes besides the contents that it links to. */
export const treeUse = ({ files, folders }: { files: number; folders: number }): number =>
  folders * (blockBytes + inodeBytes) + files * linkBytes;

/** The folders of a tree with its root. The entries are in the order of their paths, so those of a folder follow each other. */
export function foldersOf(entries: readonly Pick<SnapshotEntry, 'path'>[]): number {
  let folders = 1;
  let before = '';
  for (const { path } of entries) {
    let at = 0;
    while (at < path.length && path[at] === before[at]) at++;
    for (at = path.indexOf('/', at); at >= 0; at = path.indexOf('/', at + 1)) folders++;
    before = path;
  }
  return folders;
}
