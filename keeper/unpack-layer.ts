import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, readSync } from 'node:fs';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { mostImage } from './unpack-bounds.ts';

const heldSaid = 2000;

/** Names with `..` are an error for tar, a leading `/` goes, and a link is made last if it leads out of the folder. */
const all = [
  '--extract',
  '--numeric-owner',
  '--preserve-permissions',
  '--anchored',
  '--exclude=dev/*',
  '--exclude=./dev/*',
];

/** A layer's open file, unpacked into a folder of its own once its bytes are what the image's configuration says. */
export async function unpackLayer(fd: number, folder: string, diffId: Digest): Promise<void> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of uncompressed(fd)) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > mostImage.bytes) throw refused(`A layer is larger than ${mostImage.bytes} bytes when it is unpacked.`);
  }
  const found = `sha256:${hash.digest('hex')}`;
  if (found !== diffId) throw refused(`A layer is ${found}, and the image's configuration says ${diffId}.`);
  await untar(uncompressed(fd), folder);
}

const refused = (message: string) => new HotcellError('invalid', message);

function uncompressed(fd: number): Readable {
  const magic = Buffer.alloc(4);
  readSync(fd, magic, 0, 4, 0);
  const file = createReadStream(`/proc/self/fd/${fd}`, { highWaterMark: 1 << 20 });
  const [gzip, zstd] = [magic.readUInt16BE(0) === 0x1f8b, magic.readUInt32LE(0) === 0xfd2fb528];
  if (!gzip && !zstd) return file;
  const unpacking = gzip ? createGunzip() : createZstdDecompress();
  // An error of the file is one of what is read from it.
  file.once('error', (error) => unpacking.destroy(error));
  return file.pipe(unpacking);
}

/** Unpacks a tar archive as it comes. */
export async function untar(archive: Readable, folder: string): Promise<void> {
  const child = spawn('tar', [...all, '--directory', folder], { stdio: ['pipe', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString('utf8').slice(0, heldSaid)));
  const closed = once(child, 'close') as Promise<[number | null, string | null]>;
  // tar reads no further than the archive's end, so what breaks this pipe is in its exit code, or nothing.
  await pipeline(archive, child.stdin).catch(() => undefined);
  const [code, signal] = await closed;
  if (signal !== null)
    throw refused(`tar was ended by ${signal}: the archive needs more memory than unpacking may take.`);
  if (code !== 0) throw refused(`tar refused the archive: ${said.slice(0, heldSaid).trim()}`);
}
