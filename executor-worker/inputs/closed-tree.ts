import { chmodSync, renameSync, rmSync } from 'node:fs';
import { chmod, opendir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeReadOnly } from './tree.ts';

/**
 * Trees are laid out without the right to write, and the worker may be a user like any other: before it moves or removes
 * one, it gives itself that right.
 */
const open = 0o755;

/** Moves a tree to another folder, where it stays open: a folder's entry `..` changes with it. */
export function moveTree(from: string, to: string): void {
  chmodSync(from, open);
  renameSync(from, to);
}

/** Moves a tree to the place where it is used, closed as before. */
export function standTree(from: string, to: string): void {
  moveTree(from, to);
  makeReadOnly(to, 0o555);
}

/** Removes a tree, or whatever is there. */
export async function removeTree(path: string): Promise<void> {
  await openFolders(path);
  await rm(path, { recursive: true, force: true });
}

async function openFolders(folder: string): Promise<void> {
  try {
    await chmod(folder, open);
    for await (const entry of await opendir(folder, { bufferSize: 512 }))
      if (entry.isDirectory()) await openFolders(join(folder, entry.name));
  } catch (error) {
    // It is a file, or it was never made.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
  }
}

/** Removes a folder that has only files and empty folders. */
export function removeFlatFolder(folder: string): void {
  try {
    chmodSync(folder, open);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  rmSync(folder, { recursive: true, force: true });
}
