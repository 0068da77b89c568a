import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { octets } from '@hotcell/contract/api/route.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import type { CreatedSnapshot } from '@hotcell/contract/api/snapshots.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { type HashOptions, type Hashed, hashFiles, smallBytes } from './hash-files.ts';
import type { Http } from './http.ts';
import { type Skip, walk } from './walk.ts';

const sentAtOnce = 12;
const tries = 6;

export interface UploadOptions extends HashOptions {
  /** Points this name to the snapshot. */
  name?: string | undefined;
  /** Of a folder: what to leave out. Default: nothing. */
  skip?: Skip | undefined;
}

/** A remembered digest differs from the file's bytes. */
class Misremembered extends Error {}

/**
 * Freezes a local folder or file: announces its files, sends those that the API lacks, and creates the snapshot. After
 * an interruption, a second call sends only the rest.
 */
export async function uploadSnapshot(
  http: Http,
  source: string,
  options: UploadOptions = {},
): Promise<CreatedSnapshot> {
  try {
    return await freeze(http, source, options);
  } catch (error) {
    if (!(error instanceof Misremembered)) throw error;
    options.memory?.forget();
    return await freeze(http, source, options);
  }
}

async function freeze(http: Http, source: string, options: UploadOptions): Promise<CreatedSnapshot> {
  const files = await hashFiles(walk(source, options.skip), options);
  const entries = files.map(({ path, size, sha256 }) => ({ path, size, sha256 }));
  const { signal } = options;
  const { upload, missing } = await http.call(routes.beginUpload, { json: { files: entries }, signal });
  await sendAll(http, upload, missing, files, options);
  const json = { upload, files: entries, ...(options.name !== undefined && { name: options.name }) };
  return await http.call(routes.createSnapshot, { json, signal });
}

async function sendAll(
  http: Http,
  upload: string,
  missing: readonly Digest[],
  files: readonly Hashed[],
  { signal, progress }: UploadOptions,
): Promise<void> {
  const byDigest = new Map(files.map((file) => [file.sha256, file]));
  const wanted = missing.flatMap((digest) => byDigest.get(digest) ?? []);
  let done = 0;
  let bytes = 0;
  await inLanes(sentAtOnce, wanted, async (file) => {
    await send(http, upload, file, signal);
    done += 1;
    bytes += file.size;
    progress?.({ step: 'sending', done, of: wanted.length, bytes });
  });
}

async function send(http: Http, upload: string, file: Hashed, signal: AbortSignal | undefined): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const small = file.size <= smallBytes;
      const body = small ? new Uint8Array(await readFile(file.from)) : Readable.toWeb(createReadStream(file.from));
      const answer = await http.open(routes.uploadContent, {
        params: { upload, sha256: file.sha256 },
        body: body as Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
        headers: { 'content-type': octets },
        signal,
      });
      // Or the connection stays pinned.
      await answer.body?.cancel();
      return;
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof HotcellError && error.code === 'snapshot_refused')
        throw file.recalled ? new Misremembered() : await changed(file, error);
      if (!(error instanceof HotcellError && error.retryable) || attempt === tries) throw error;
      await pause(100 * 2 ** attempt * (0.5 + Math.random()), undefined, signal ? { signal } : {});
    }
  }
}

async function changed(file: Hashed, cause: HotcellError): Promise<HotcellError> {
  const { size } = await stat(file.from);
  const how = size === file.size ? 'its bytes differ' : `it had ${file.size} bytes and now has ${size}`;
  return new HotcellError(
    'snapshot_refused',
    `${file.from} changed while it was frozen (${how}). Try again when no program writes to it.`,
    { cause },
  );
}
