import { chmodSync, copyFileSync, linkSync, mkdirSync, utimesSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import type { SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { inputTime } from './fetch.ts';

const linksAtOnce = 250;

/**
 * Lays a snapshot out as read-only folders and hard links to contents, under a temporary name. The names were judged when
 * the manifest was read; the folder is ours alone, so no link in it can lead elsewhere.
 */
export async function buildTree(
  root: string,
  entries: readonly SnapshotEntry[],
  contentOf: (entry: SnapshotEntry) => string,
  signal: AbortSignal,
): Promise<void> {
  mkdirSync(root, { mode: 0o755 });
  const folders = new Set<string>();
  for (const [i, entry] of entries.entries()) {
    // Links are quick but many: the rest of this process gets its turn.
    if (i % linksAtOnce === linksAtOnce - 1) {
      await breathe();
      signal.throwIfAborted();
      crashPoint('tree-linking');
    }
    const cut = entry.path.lastIndexOf('/');
    if (cut > 0) makeFolders(root, entry.path.slice(0, cut), folders);
    linkContent(contentOf(entry), `${root}/${entry.path}`);
  }
  for (const folder of [...folders].toSorted((a, b) => b.length - a.length)) makeReadOnly(`${root}/${folder}`, 0o555);
  makeReadOnly(root, 0o555);
  crashPoint('tree-linked');
}

function makeFolders(root: string, folder: string, made: Set<string>): void {
  if (made.has(folder)) return;
  const cut = folder.lastIndexOf('/');
  if (cut > 0) makeFolders(root, folder.slice(0, cut), made);
  mkdirSync(`${root}/${folder}`, { mode: 0o755 });
  made.add(folder);
}

function linkContent(content: string, path: string): void {
  try {
    linkSync(content, path);
  } catch (error) {
    // A file system limits the links to one file: the same empty file in every folder reaches the limit.
    if (!(error instanceof Error && 'code' in error && error.code === 'EMLINK')) throw error;
    copyFileSync(content, path);
    makeReadOnly(path, 0o444);
  }
}

/** Read-only, and with the same time as every input, whatever umask this process has. */
export function makeReadOnly(path: string, mode: number): void {
  utimesSync(path, inputTime, inputTime);
  chmodSync(path, mode);
}
