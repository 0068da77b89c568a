import { existsSync } from 'node:fs';

const remote = /^(?:sha256:|s3:\/\/)|:outputs$/;

/** Whether a source is a path of this machine. A word that is neither an address nor an existing path may be a name. */
export function isLocal(source: string): boolean {
  return !remote.test(source) && (/^[./~]/.test(source) || source.includes('/') || existsSync(source));
}
