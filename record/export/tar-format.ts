import { Buffer } from 'node:buffer';

/** A tar archive is a row of blocks: for each file a header and then its bytes, filled up with zeros. */
export const blockBytes = 512;

/** What an archive says of a file before its bytes. */
export interface TarHeader {
  path: string;
  size: number;
  modified: Date;
}

export const paddingOf = (size: number): number => (blockBytes - (size % blockBytes)) % blockBytes;

/** Two empty blocks. */
export const endOfTar = Buffer.alloc(2 * blockBytes);

const longestName = 100;
/** What eleven octal digits hold. */
const largestOctal = 0o77777777777;

/** The same file always has the same header: no owner, and no time but the one that is given. */
export function headerOf({ path, size, modified }: TarHeader): Buffer {
  const isPlain = /^[\x20-\x7e]*$/.test(path) && path.length <= longestName;
  const more = { ...(isPlain ? {} : { path }), ...(size > largestOctal ? { size: String(size) } : {}) };
  const records = Buffer.from(Object.entries(more).map(recordOf).join(''));
  const about = ustar('0', isPlain ? path : 'named-in-pax-header', size > largestOctal ? 0 : size, modified);
  if (records.length === 0) return about;
  const filled = Buffer.alloc(records.length + paddingOf(records.length));
  records.copy(filled);
  return Buffer.concat([ustar('x', 'pax-header', records.length, modified), filled, about]);
}

function ustar(kind: string, name: string, size: number, modified: Date): Buffer {
  const block = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
  block.write(name, 0, 'latin1');
  block.write(`${octal(0o644, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100, 'latin1');
  const seconds = Math.max(0, Math.floor(modified.getTime() / 1000));
  block.write(`${octal(size, 11)}\0${octal(seconds, 11)}\0`, 124, 'latin1');
  block.write(kind, 156, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  block.write(`${octal(checksumOf(block), 6)}\0 `, 148, 'latin1');
  return block;
}

/** Of a header: the sum of its bytes, with spaces in the place of the sum itself. */
export function checksumOf(block: Buffer): number {
  let sum = 8 * 0x20;
  for (let at = 0; at < blockBytes; at++) if (at < 148 || at >= 156) sum += block[at] ?? 0;
  return sum;
}

/** A record of a pax header begins with its own length, which counts its own digits too. */
function recordOf([name, value]: readonly [string, string]): string {
  const rest = ` ${name}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  const digits = String(bytes + String(bytes).length).length;
  return `${bytes + digits}${rest}`;
}
