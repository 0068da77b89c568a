import type { FileHandle } from 'node:fs/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { blockBytes, checksumOf, paddingOf } from './tar-format.ts';

/** Where the bytes of a file stand in an archive. */
export interface TarPlace {
  at: number;
  size: number;
}

const mostEntries = 2_000_000;
/** All names together: they are what an index keeps in memory. */
const mostNameBytes = 256 * 2 ** 20;
const longestPath = 4096;
const mostExtended = 64 * 1024;

/** What only an attacker, or another kind of archive, puts there. */
const refusedKinds: Readonly<Record<string, string>> = {
  1: 'a hard link',
  2: 'a symbolic link',
  3: 'a character device',
  4: 'a block device',
  6: 'a pipe',
  7: 'a file of a special kind',
};

/**
 * The files of an archive by their paths. A stranger may have made it, so nothing of it is ever unpacked: what is read
 * later is read from its place. Anything but plain files under plain paths, each of them once, is refused.
 */
export async function tarIndex(file: FileHandle, name: string): Promise<Map<string, TarPlace>> {
  const { size: whole } = await file.stat();
  const files = new Map<string, TarPlace>();
  let names = 0;
  let said: Extended = {};
  const refuse = (why: string) => new HotcellError('record_damaged', `${name} is no export of evidence: ${why}.`);
  for (let at = 0, entries = 0; ; entries++) {
    const block = await blockAt(file, at, whole);
    if (!block) throw refuse('it ends without the end of an archive, so a part of it may be cut off');
    if (block.every((byte) => byte === 0)) return files;
    if (entries >= mostEntries) throw refuse(`it has more than ${mostEntries} entries`);
    const head = headOf(block);
    if (!head) throw refuse(`at byte ${at} there is no header of a tar archive`);
    const size = head.kind === 'x' || head.kind === 'L' || head.kind === 'g' ? head.size : (said.size ?? head.size);
    const next = at + blockBytes + size + paddingOf(size);
    if (!Number.isSafeInteger(size) || size < 0 || next > whole)
      throw refuse(`${shown(said.path ?? head.path)} ends behind the end of the archive`);
    if (head.kind === 'x' || head.kind === 'L') {
      if (size > mostExtended)
        throw refuse(`the header at byte ${at} has ${size} bytes, and at most ${mostExtended} are read`);
      const bytes = await bytesAt(file, at + blockBytes, size);
      said = { ...said, ...(head.kind === 'x' ? recordsIn(bytes) : { path: textOf(bytes) }) };
    } else if (head.kind !== 'g') {
      const path = (said.path ?? head.path).replace(/^\.\/+/, '');
      const kind = refusedKinds[head.kind];
      if (kind !== undefined) throw refuse(`${shown(path)} is ${kind}`);
      if (head.kind !== '0' && head.kind !== '\0' && head.kind !== '5')
        throw refuse(`${shown(path)} is of the unknown kind ${shown(head.kind)}`);
      if (head.kind !== '5') {
        names += path.length;
        if (names > mostNameBytes) throw refuse('its names take too much memory');
        const problem = files.has(path) ? 'stands in it twice' : pathProblem(path);
        if (problem !== undefined) throw refuse(`${shown(path)} ${problem}`);
        files.set(path, { at: at + blockBytes, size });
      }
      said = {};
    }
    at = next;
  }
}

/** What a header before a file's own says of it: names that are too long for a header stand there. */
interface Extended {
  path?: string;
  size?: number;
}

async function blockAt(file: FileHandle, at: number, whole: number): Promise<Buffer | undefined> {
  return at + blockBytes <= whole ? await bytesAt(file, at, blockBytes) : undefined;
}

async function bytesAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}

function headOf(block: Buffer): { path: string; size: number; kind: string } | undefined {
  const sum = Number.parseInt(block.toString('latin1', 148, 156), 8);
  if (sum !== checksumOf(block) || block.toString('latin1', 257, 262) !== 'ustar') return undefined;
  const prefix = block[262] === 0 ? textOf(block.subarray(345, 500)) : '';
  const name = textOf(block.subarray(0, 100));
  const kind = block.toString('latin1', 156, 157);
  return { path: prefix === '' ? name : `${prefix}/${name}`, size: sizeIn(block.subarray(124, 136)), kind };
}

/** In octal digits; of a very large file in binary. */
function sizeIn(field: Buffer): number {
  if ((field[0] ?? 0) < 0x80) return Number.parseInt(field.toString('latin1'), 8) || 0;
  return field.subarray(1, 4).some((byte) => byte !== 0) ? Number.NaN : Number(field.readBigUInt64BE(4));
}

function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return (end < 0 ? bytes : bytes.subarray(0, end)).toString('utf8');
}

function recordsIn(bytes: Buffer): Extended {
  const found: Extended = {};
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = Number(bytes.toString('latin1', at, Math.max(at, space)));
    if (!Number.isSafeInteger(length) || length < 5 || at + length > bytes.length) break;
    const [name = '', ...value] = bytes.toString('utf8', space + 1, at + length - 1).split('=');
    if (name === 'path') found.path = value.join('=');
    if (name === 'size') found.size = Number(value.join('='));
    at += length;
  }
  return found;
}

/** Why a path is none that a file of an export can have. */
export function pathProblem(path: string): string | undefined {
  if (path.startsWith('/')) return 'is not a path inside the archive';
  if (path.length > longestPath) return 'is longer than any path of an export';
  if (path.includes('\0')) return 'has a zero byte in its name';
  if (path.split('/').some((part) => part === '..')) return 'leads out of the archive';
  return path.split('/').some((part) => part === '' || part === '.') ? 'is no plain path' : undefined;
}

const shown = (text: string) => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
