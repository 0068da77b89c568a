import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';

/** The error of a file that can't be read, in words of a person. */
export function unreadable(path: string, cause: unknown, ifFolder = `${path} is a folder. Name a file.`): HotcellError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const known: Readonly<Record<string, string>> = {
    ENOENT: `File not found: ${path}`,
    EISDIR: ifFolder,
    EACCES: `Permission denied: ${path}. Check the file's rights.`,
  };
  return new HotcellError('invalid', known[String(code)] ?? `Failed to read ${path}: ${messageOf(cause)}`, { cause });
}

/** The error of a file that can't be written. */
export function unwritable(path: string, cause: unknown): HotcellError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const known: Readonly<Record<string, string>> = {
    ENOENT: `Folder not found: ${dirname(path)}`,
    ENOTDIR: `${dirname(path)} is not a folder.`,
    EISDIR: `${path} is a folder. Name a file.`,
    EACCES: `Permission denied: ${path}. Check the folder's rights.`,
  };
  return new HotcellError('invalid', known[String(code)] ?? `Failed to write ${path}: ${messageOf(cause)}`, { cause });
}

const remote = /^(?:sha256:|s3:\/\/|step:)|:(?:outputs|workspace)$/;

/**
 * Whether a source is a path of this machine, seen from a folder. A word that is neither an address nor an existing path
 * may be a name.
 */
export function isLocal(source: string, folder = '.'): boolean {
  return !remote.test(source) && (/^[./~]/.test(source) || source.includes('/') || existsSync(resolve(folder, source)));
}
