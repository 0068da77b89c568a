import { isUtf8 } from 'node:buffer';
import { type Dirent, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { refuseNames, snapshotLimits } from '@hotcell/contract/snapshot.ts';
import { type NameProblem, nameProblems } from '@hotcell/contract/snapshot-names.ts';
import type { FileState } from './hashes/file-state.ts';

/** A local file, and its path in the snapshot. */
export interface WalkedFile {
  path: string;
  from: string;
  state: FileState;
}

/**
 * The files of a folder, or the one file, that a path names. Anything that a snapshot cannot hold refuses all of it: links
 * point elsewhere, and pipes, sockets and devices have no bytes to freeze.
 */
export function walk(source: string): WalkedFile[] {
  const files: WalkedFile[] = [];
  const problems: NameProblem[] = [];
  if (statOf(source).isDirectory()) intoFolder(Buffer.from(source), '', files, problems);
  else files.push(fileAt(Buffer.from(realpathSync(source)), basename(source), problems));
  problems.push(...nameProblems(files.map((file) => file.path)));
  refuseNames(problems.toSorted((a, b) => (a.path < b.path ? -1 : 1)));
  if (files.length === 0)
    throw new HotcellError('snapshot_refused', `${source} holds no files: there is nothing to freeze`);
  return files;
}

/** The path itself may be a link, and means its target. */
function statOf(source: string) {
  try {
    return statSync(source);
  } catch (cause) {
    throw new HotcellError('invalid', `${source} cannot be frozen: ${messageOf(cause)}`, { cause });
  }
}

function intoFolder(folder: Buffer, prefix: string, files: WalkedFile[], problems: NameProblem[]): void {
  const names: Dirent<Buffer>[] = readdirSync(folder, { encoding: 'buffer', withFileTypes: true });
  for (const entry of names.toSorted((a, b) => Buffer.compare(a.name, b.name))) {
    const path = `${prefix}${entry.name.toString('utf8')}`;
    const from = Buffer.concat([folder, Buffer.from('/'), entry.name]);
    if (!isUtf8(entry.name)) problems.push({ path, reason: 'is not valid UTF-8; rename it' });
    else if (entry.isDirectory()) intoFolder(from, `${path}/`, files, problems);
    else files.push(fileAt(from, path, problems));
    if (files.length > snapshotLimits.files)
      throw new HotcellError(
        'too_large',
        `there are more than ${snapshotLimits.files} files, which is the most one snapshot holds: freeze parts of the folder, or pack small files together`,
      );
  }
}

function fileAt(from: Buffer, path: string, problems: NameProblem[]): WalkedFile {
  const state = lstatSync(from, { bigint: true });
  if (state.isSymbolicLink())
    problems.push({ path, reason: 'is a link; put what it leads to in its place, or leave it out' });
  else if (!state.isFile()) problems.push({ path, reason: 'is no file' });
  return { path, from: from.toString('utf8'), state };
}
