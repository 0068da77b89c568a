import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { StoreBytes } from '@hotcell/outside/store/store-bytes.ts';
import type { Sink } from '@hotcell/outside/store/wire.ts';
import type { ListedObject } from './listing.ts';
import { type ContentDeps, putSmall, putStream, smallContentBytes } from '@hotcell/record/put-content.ts';

const tries = 4;

export interface ReadDeps extends ContentDeps {
  /** A folder of this process's own, for big objects between reading and putting them. */
  spool: string;
}

/**
 * Read one object, once, by its version, hashing while it comes, and keep its bytes in the tenant's contents unless it
 * is only referred to. What is too big for memory waits on our disk: its name is known only when it is read to its end.
 */
export async function readObject(
  deps: ReadDeps,
  from: { store: StoreBytes; bucket: string; object: ListedObject },
  keepFor: { tenant: string; anew: boolean } | undefined,
): Promise<Digest> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readOnce(deps, from, keepFor);
    } catch (error) {
      if (!(error instanceof HotcellError) || error.code !== 'store_unavailable' || attempt === tries) throw error;
      await pause(100 * 2 ** attempt * (0.5 + Math.random()));
    }
  }
}

async function readOnce(
  deps: ReadDeps,
  from: { store: StoreBytes; bucket: string; object: ListedObject },
  keepFor: { tenant: string; anew: boolean } | undefined,
): Promise<Digest> {
  if (!keepFor) return read(from, () => undefined);
  const { tenant, anew } = keepFor;
  if (from.object.size <= smallContentBytes) {
    const chunks: Buffer[] = [];
    const digest = await read(from, (chunk) => void chunks.push(chunk));
    await putSmall(deps, tenant, digest, Buffer.concat(chunks), anew);
    return digest;
  }
  mkdirSync(deps.spool, { recursive: true, mode: 0o700 });
  const path = join(deps.spool, randomUUID());
  await using file = await open(path, 'wx+', 0o600);
  // Without a name already: whatever becomes of us, nothing of it stays.
  rmSync(path);
  const digest = await read(from, (chunk) => writeFully(file, chunk));
  await putStream(deps, tenant, digest, chunksOf(file), anew);
  return digest;
}

async function writeFully(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
}

async function* chunksOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (let at = 0; ; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(1024 * 1024), { position: at });
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function read(
  { store, bucket, object }: { store: StoreBytes; bucket: string; object: ListedObject },
  sink: Sink,
): Promise<Digest> {
  const hash = createHash('sha256');
  let bytes = 0;
  const { key, size, versionId, etag } = object;
  const taken: Sink = (chunk) => {
    bytes += chunk.length;
    if (bytes > size) return undefined;
    hash.update(chunk);
    return sink(chunk);
  };
  const changed = (how: string) =>
    new HotcellError(
      'conflict',
      `s3://${bucket}/${key} ${how} while it was being frozen, so nothing was kept. Try again when the source no longer changes.`,
    );
  const head = await store.read(bucket, key, taken, { versionId, flowing: size <= smallContentBytes });
  if (!head) throw changed('was deleted');
  if (bytes !== size) throw changed(`changed from ${size} to ${bytes} bytes`);
  if (head.etag !== etag) throw changed('was overwritten');
  return `sha256:${hash.digest('hex')}`;
}
