import { isUtf8 } from 'node:buffer';
import { type Dirent, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { unreadable } from './file-errors.ts';
import { refuseNames, snapshotLimits } from '@hotcell/contract/snapshot.ts';
import { type NameProblem, nameProblems } from '@hotcell/contract/snapshot-names.ts';
import type { FileState } from './hashes/file-state.ts';

/** A local file and its path in the snapshot. */
export interface WalkedFile {
  path: string;
  from: string;
  state: FileState;
}

/** Whether a file, or a folder with all that is in it, is left out. A single file that is named itself never is. */
export type Skip = (path: string, isFolder: boolean) => boolean;

/**
 * Lists the files of a folder, or a single file. One entry that a snapshot can't hold refuses the whole source: links
 * point elsewhere, and pipes, sockets and devices have no bytes to freeze.
 */
export function walk(source: string, skip: Skip = () => false): WalkedFile[] {
  const files: WalkedFile[] = [];
  const problems: NameProblem[] = [];
  if (statOf(source).isDirectory()) intoFolder(Buffer.from(source), '', { files, problems, skip });
  else files.push(fileAt(Buffer.from(realpathSync(source)), basename(source), problems));
  problems.push(...nameProblems(files.map((file) => file.path)));
  refuseNames(problems.toSorted((a, b) => (a.path < b.path ? -1 : 1)));
  if (files.length === 0)
    throw new HotcellError('snapshot_refused', `${source} contains no files to freeze. Name a folder with files.`);
  return files;
}

/** If the path itself is a link, its target is frozen. */
function statOf(source: string) {
  try {
    return statSync(source);
  } catch (cause) {
    throw unreadable(source, cause);
  }
}

interface Walk {
  files: WalkedFile[];
  problems: NameProblem[];
  skip: Skip;
}

function intoFolder(folder: Buffer, prefix: string, walking: Walk): void {
  const { files, problems, skip } = walking;
  const names: Dirent<Buffer>[] = readdirSync(folder, { encoding: 'buffer', withFileTypes: true });
  for (const entry of names.toSorted((a, b) => Buffer.compare(a.name, b.name))) {
    const path = `${prefix}${entry.name.toString('utf8')}`;
    const from = Buffer.concat([folder, Buffer.from('/'), entry.name]);
    if (!isUtf8(entry.name)) problems.push({ path, reason: 'has a name that is not valid UTF-8' });
    else if (skip(path, entry.isDirectory())) continue;
    else if (entry.isDirectory()) intoFolder(from, `${path}/`, walking);
    else files.push(fileAt(from, path, problems));
    if (files.length > snapshotLimits.files)
      throw new HotcellError(
        'too_large',
        `The folder has more than ${snapshotLimits.files} files, the most that one snapshot holds. Freeze parts of it, or pack small files together.`,
      );
  }
}

function fileAt(from: Buffer, path: string, problems: NameProblem[]): WalkedFile {
  const state = lstatSync(from, { bigint: true });
  if (state.isSymbolicLink()) problems.push({ path, reason: 'is a link; replace it with its target or remove it' });
  else if (!state.isFile()) problems.push({ path, reason: 'is not a regular file; remove it' });
  return { path, from: from.toString('utf8'), state };
}
