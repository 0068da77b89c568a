import { existsSync } from 'node:fs';
import { formatBytes } from '@hotcell/contract/format.ts';
import type { Http } from '@hotcell/client/http.ts';
import { uploadSnapshot } from '@hotcell/client/upload.ts';
import { memoryOf } from './hash-memory.ts';

const tellEveryMs = 2_000;
const elsewhere = /^(?:sha256:|s3:\/\/)|:outputs$/;

/** Whether a source is a path of this machine. What is neither an address nor looks like a path may be a name. */
export function isLocal(source: string): boolean {
  return !elsewhere.test(source) && (/^[./~]/.test(source) || source.includes('/') || existsSync(source));
}

/** Progress as a sentence now and then: an upload of a second says nothing, one of an hour does not flood. */
export function progressTo(
  note: (line: string) => void,
): (progress: { step: string; done: number; of: number; bytes: number }) => void {
  let told = Date.now();
  return ({ step, done, of, bytes }) => {
    if (Date.now() - told < tellEveryMs) return;
    told = Date.now();
    note(`${step} ${done} of ${of} files, ${formatBytes(bytes)}`);
  };
}

/** A folder or file as an input: frozen through the API, named by its snapshot's id. */
export async function uploadSource(http: Http, path: string, note: (line: string) => void): Promise<string> {
  return (await uploadSnapshot(http, path, { memory: memoryOf(path), progress: progressTo(note) })).id;
}
