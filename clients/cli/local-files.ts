import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { noFolder } from '@hotcell/client/file-errors.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';

const remote = /^(?:sha256:|s3:\/\/|step:)|:(?:outputs|workspace)$/;

/**
 * Whether a source is a path of this machine, seen from a folder. A word that is neither an address nor an existing path
 * may be a name.
 */
export function isLocal(source: string, folder = '.'): boolean {
  return !remote.test(source) && (/^[./~]/.test(source) || source.includes('/') || existsSync(resolve(folder, source)));
}

/** Before a run is submitted: one whose outputs can't be saved where they are wanted would be in vain. */
export function judgeOut(folder: string | undefined): void {
  if (folder === undefined) return;
  try {
    if (statSync(folder).isDirectory()) return;
  } catch (cause) {
    // It is made when there is something to save.
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw noFolder(folder, cause);
  }
  throw new HotcellError('invalid', `${folder} is a file. Name a folder.`);
}
