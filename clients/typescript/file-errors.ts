import { dirname } from 'node:path';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';

/** The error of a file that can't be read, in words of a person. */
export function unreadable(path: string, cause: unknown, ifFolder = `${path} is a folder. Name a file.`): HotcellError {
  return inWords(`Failed to read ${path}`, cause, {
    ENOENT: `File not found: ${path}`,
    EISDIR: ifFolder,
    EACCES: `Permission denied: ${path}. Check the file's rights.`,
  });
}

/** The error of a file that can't be written. */
export function unwritable(path: string, cause: unknown): HotcellError {
  return inWords(`Failed to write ${path}`, cause, {
    ENOENT: `Folder not found: ${dirname(path)}`,
    ENOTDIR: `${dirname(path)} is not a folder.`,
    EISDIR: `${path} is a folder. Name a file.`,
    EACCES: `Permission denied: ${path}. Check the folder's rights.`,
  });
}

/** The error of a folder that can't be used or made. */
export function noFolder(folder: string, cause: unknown): HotcellError {
  return inWords(`Failed to make the folder ${folder}`, cause, {
    EEXIST: `${folder} is a file. Name a folder.`,
    ENOTDIR: `Part of the path ${folder} is not a folder. Name another one.`,
    EACCES: `Permission denied: ${folder}. Check the folder's rights.`,
  });
}

function inWords(otherwise: string, cause: unknown, known: Readonly<Record<string, string>>): HotcellError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return new HotcellError('invalid', known[code] ?? `${otherwise}: ${messageOf(cause)}`, { cause });
}
