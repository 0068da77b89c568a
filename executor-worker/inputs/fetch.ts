import { createHash } from 'node:crypto';
import { closeSync, fchmodSync, fsync, futimesSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { hexOf } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Contents } from '@hotcell/record/contents.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { WantedFile } from './fetchers.ts';

const fsyncOf = promisify(fsync);
const tries = 5;
/** From this size on a file is synced by itself, while others come; smaller ones are synced together. */
export const bigBytes = 1024 * 1024;

/** The time of every file and folder of an input: the same code on the same inputs sees the same world. */
export const inputTime = new Date('1980-01-01T00:00:00Z');

/**
 * Fetches one content into a temporary file: hashed while it streams, whole, read-only, and synced if it is big. Writes
 * are synchronous, so that a slow disk slows the store down.
 */
export async function fetchContent(
  contents: Contents,
  tenant: string,
  wanted: WantedFile,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await fetchOnce(contents, tenant, wanted, signal);
    } catch (error) {
      rmSync(wanted.temporary, { force: true });
      signal.throwIfAborted();
      if (!mayHelp(error, attempt)) throw error;
      await pause(50 * 2 ** attempt * (0.5 + Math.random()), undefined, { signal });
    }
  }
}

/** A store that is away comes back; wrong bytes may have been damaged on the way, once. */
function mayHelp(error: unknown, attempt: number): boolean {
  if (!(error instanceof HotcellError)) return false;
  return error.code === 'store_unavailable' ? attempt < tries : error.code === 'input_damaged' && attempt < 2;
}

async function fetchOnce(contents: Contents, tenant: string, wanted: WantedFile, signal: AbortSignal): Promise<void> {
  const { entry, temporary } = wanted;
  const { bucket, key, versionId } = entry.location;
  const store = contents.of(tenant, entry);
  const where = `${entry.path} (${bucket}/${key}${versionId ? ` version ${versionId}` : ''})`;
  const fd = openSync(temporary, 'wx', 0o444);
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      // Too long is wrong whatever follows: the surplus need not reach the disk.
      if (bytes > entry.size) return undefined;
      hash.update(chunk);
      writeFileSync(fd, chunk);
      return undefined;
    };
    const head = await store.read(bucket, key, take, { versionId, signal, flowing: true });
    if (!head) throw new HotcellError('input_missing', `${where} is no longer in the store. Freeze the source again.`);
    const found = hash.digest('hex');
    if (bytes !== entry.size || found !== hexOf(entry.sha256))
      throw new HotcellError(
        'input_damaged',
        `${where} does not have the bytes that were frozen: it has ${bytes} bytes with sha256 ${found} instead of ${entry.size} with ${hexOf(entry.sha256)}. Freeze the source again.`,
      );
    crashPoint('input-written');
    // Whatever umask this process has: the cell's user has to read the file.
    fchmodSync(fd, 0o444);
    futimesSync(fd, inputTime, inputTime);
    if (entry.size >= bigBytes) await fsyncOf(fd);
  } finally {
    closeSync(fd);
  }
}
