import type { SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import type { CacheAccount, Tree } from './cache-account.ts';
import { removeTree, standTree } from './closed-tree.ts';
import { treeUse } from './disk-use.ts';
import type { Places } from './places.ts';
import { buildTree } from './tree.ts';

/** A tree in use: it stays in the cache until it is released. */
export interface HeldTree extends Disposable {
  path: string;
  files: number;
  bytes: number;
  /** Lays a copy out at this path, of links to the same contents. It goes when it is disposed of. */
  copyTo(path: string, signal: AbortSignal): Promise<AsyncDisposable>;
}

/**
 * Lays a copy of a standing tree out at a path, of links to the same contents. It comes by a rename: what sees the folder
 * above it sees all of the copy at once. It goes when it is disposed of.
 */
export async function copyTree(
  { places, account }: { places: Places; account: CacheAccount },
  tree: Tree,
  entries: () => Promise<readonly SnapshotEntry[]>,
  path: string,
  signal: AbortSignal,
): Promise<AsyncDisposable> {
  const standing = places.tree(tree.tenant, tree.snapshot);
  const room = await account.promise(treeUse(tree));
  const unfinished = places.newUnfinished();
  try {
    await buildTree(unfinished, await entries(), (entry) => `${standing}/${entry.path}`, signal);
    standTree(unfinished, path);
  } catch (error) {
    await removeTree(unfinished);
    room[Symbol.dispose]();
    throw error;
  }
  return {
    [Symbol.asyncDispose]: async () => {
      await removeTree(path);
      room[Symbol.dispose]();
    },
  };
}
