import { createHash } from 'node:crypto';
import { closeSync, fchmodSync, fsync, futimesSync, openSync, renameSync, rmSync, writeSync, writev } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { hexOf } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { LocatedEntry } from '@hotcell/contract/snapshot-locations.ts';
import type { Contents } from '@hotcell/outside/content.ts';
import { crashPoint } from '@hotcell/outside/crash.ts';
import type { Sink } from '@hotcell/outside/store-bytes.ts';

const fsyncOf = promisify(fsync);
const writeAll = promisify(writev);
const tries = 5;
/** Written at once: fewer calls for big files, and what waits in memory for the disk stays small. */
const batchBytes = 1024 * 1024;

/** What every file and folder of an input says of its age: the same code on the same inputs sees the same world. */
export const inputTime = new Date('1980-01-01T00:00:00Z');

/**
 * Bring one content to its place in the cache: hashed while it streams, in full on the disk, read-only, and only then
 * under its name. Whatever is found under a name is therefore whole, also after a death at any step.
 */
export async function fetchContent(
  contents: Contents,
  tenant: string,
  entry: LocatedEntry,
  place: { temporary: string; final: string },
  signal?: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await fetchOnce(contents, tenant, entry, place, signal);
      return;
    } catch (error) {
      rmSync(place.temporary, { force: true });
      signal?.throwIfAborted();
      if (!mayHelp(error, attempt)) throw error;
      await pause(50 * 2 ** attempt * (0.5 + Math.random()), undefined, signal ? { signal } : {});
    }
  }
}

/** A store that is away comes back; wrong bytes may have been bent on the way, once. */
function mayHelp(error: unknown, attempt: number): boolean {
  if (!(error instanceof HotcellError)) return false;
  return error.code === 'store_unavailable' ? attempt < tries : error.code === 'input_damaged' && attempt < 2;
}

async function fetchOnce(
  contents: Contents,
  tenant: string,
  entry: LocatedEntry,
  place: { temporary: string; final: string },
  signal?: AbortSignal,
): Promise<void> {
  const { bucket, key, versionId } = entry.location;
  const store = contents.of(tenant, entry);
  const where = `${entry.path} (${bucket}/${key}${versionId ? ` version ${versionId}` : ''})`;
  const fd = openSync(place.temporary, 'wx', 0o444);
  try {
    const file = new HashedFile(fd, entry.size);
    const head = await store.read(bucket, key, file.sink, { versionId, signal, small: entry.size < batchBytes });
    if (!head)
      throw new HotcellError('input_missing', `${where} is not in the store any more: it was deleted after the freeze`);
    const found = await file.finish();
    if (file.bytes !== entry.size || found !== hexOf(entry.sha256))
      throw new HotcellError(
        'input_damaged',
        `${where} has not the bytes that were frozen: ${file.bytes} bytes with sha256 ${found} instead of ${entry.size} with ${hexOf(entry.sha256)}`,
      );
    crashPoint('input-written');
    // Whatever mask this process was started with: the cell's user has to read it.
    fchmodSync(fd, 0o444);
    futimesSync(fd, inputTime, inputTime);
    await fsyncOf(fd);
  } catch (error) {
    throw fullDisk(error) ?? error;
  } finally {
    closeSync(fd);
  }
  crashPoint('input-synced');
  renameSync(place.temporary, place.final);
  crashPoint('input-renamed');
}

/** Hashes and counts what is written to a descriptor, and holds the store up while the disk is behind. */
class HashedFile {
  bytes = 0;
  readonly #fd: number;
  readonly #expected: number;
  readonly #hash = createHash('sha256');
  #batch: Buffer[] = [];
  #batched = 0;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(fd: number, expected: number) {
    this.#fd = fd;
    this.#expected = expected;
  }

  readonly sink: Sink = (chunk) => {
    this.bytes += chunk.length;
    // More than was frozen cannot become right; nothing of it needs to reach the disk.
    if (this.bytes > this.#expected) return undefined;
    this.#hash.update(chunk);
    this.#batch.push(chunk);
    this.#batched += chunk.length;
    if (this.#batched < batchBytes) return undefined;
    const before = this.#writing;
    this.#flush();
    return before.then(() => undefined);
  };

  #flush(): void {
    const batch = this.#batch;
    this.#batch = [];
    this.#batched = 0;
    this.#writing = this.#writing.then(() => this.#write(batch));
    // It is awaited by the next flush or by finish; until then its failure must not count as unhandled.
    this.#writing.catch(() => undefined);
  }

  /** A short write is how a disk says that it is getting full: the rest, written alone, gets the error. */
  async #write(batch: Buffer[]): Promise<void> {
    const { bytesWritten } = await writeAll(this.#fd, batch);
    const bytes = batch.reduce((sum, chunk) => sum + chunk.length, 0);
    if (bytesWritten < bytes) writeFully(this.#fd, Buffer.concat(batch).subarray(bytesWritten));
  }

  async finish(): Promise<string> {
    await this.#writing;
    if (this.#batched > 0) writeFully(this.#fd, Buffer.concat(this.#batch));
    return this.#hash.digest('hex');
  }
}

function writeFully(fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}

function fullDisk(error: unknown): HotcellError | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return undefined;
  return new HotcellError(
    'internal',
    'the disk of this worker is full while staging inputs: make room, or lower HOTCELL_CACHE_BYTES',
    { cause: error },
  );
}
