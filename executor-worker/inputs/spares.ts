import { chmodSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Places } from './places.ts';
import type { Tree } from './cache-account.ts';
import { buildTree, makeReadOnly } from './tree.ts';

/** A copy of a tree that was moved into a cell's folder. */
export interface MovedTree {
  /** Moves it out again, for the next cell. Only after the cell's end: for the cell it vanishes. */
  release(): Promise<void>;
}

/**
 * Makes copies of a tree ahead, of hard links to the same contents. One rename moves a copy into a cell that already
 * runs, which takes as long for one file as for a hundred thousand.
 */
export async function makeSpares(
  places: Places,
  tree: Tree,
  entries: readonly SnapshotEntry[],
  copies: number,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const standing = places.tree(tree.tenant, tree.snapshot);
  while (tree.spares.length < copies) {
    const unfinished = places.newUnfinished();
    await buildTree(unfinished, entries, (entry) => `${standing}/${entry.path}`, signal);
    const spare = places.newSpare();
    move(unfinished, spare);
    tree.spares.push(spare);
    crashPoint('spare-made');
  }
}

/** Moves one of the tree's spares to its place. */
export function moveTree(places: Places, tree: Tree, to: string, stands: () => boolean): MovedTree {
  const spare = tree.spares.pop();
  // The caller has just made one, and has not awaited anything since.
  if (spare === undefined) throw new Error(`there is no spare tree of ${tree.snapshot}`);
  move(spare, to);
  crashPoint('spare-moved');
  return {
    async release() {
      move(to, spare);
      if (stands()) tree.spares.push(spare);
      else await rm(spare, { recursive: true, force: true });
    },
  };
}

/** Moving a folder writes to it (its `..`), so it must be writable for that moment. */
function move(from: string, to: string): void {
  chmodSync(from, 0o755);
  renameSync(from, to);
  makeReadOnly(to, 0o555);
}
