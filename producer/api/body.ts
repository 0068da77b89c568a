import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';

const maxDepth = 64;
const maxParts = 1_000_000;

const quote = 0x22;
const backslash = 0x5c;
const openers = new Set([0x5b, 0x7b]);
const closers = new Set([0x5d, 0x7d]);
const comma = 0x2c;

function endOfString(bytes: Buffer, from: number): number {
  let at = bytes.indexOf(quote, from);
  while (at !== -1) {
    let slashes = 0;
    while (bytes[at - 1 - slashes] === backslash) slashes++;
    if (slashes % 2 === 0) return at;
    at = bytes.indexOf(quote, at + 1);
  }
  return bytes.length;
}

/**
 * Comes before parsing: a body of a few megabytes can nest a million levels deep or hold ten million values, and would
 * block the one thread of this process for all callers.
 */
function checkShape(bytes: Buffer): void {
  let depth = 0;
  let parts = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === quote) {
      i = endOfString(bytes, i + 1);
    } else if (openers.has(byte)) {
      parts++;
      if (++depth > maxDepth)
        throw new HotcellError(
          'invalid',
          `The body nests more than ${maxDepth} levels deep. Flatten it, or pass it as an input.`,
        );
    } else if (closers.has(byte)) depth--;
    else if (byte === comma && ++parts > maxParts)
      throw new HotcellError('too_large', `The body holds more than ${maxParts} values. Pass big data as an input.`);
  }
}

/**
 * JSON that cannot be kept faithfully: the key __proto__, which would silently vanish, and lone surrogates, which have no
 * bytes in UTF-8, so that other code would run than was submitted.
 */
function refuseUnfaithful(key: string, value: unknown): unknown {
  if (key === '__proto__')
    throw new HotcellError('invalid', 'The body has a key __proto__, which is not allowed. Remove it.');
  if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed()))
    throw new HotcellError(
      'invalid',
      `The text at ${JSON.stringify(key)} has half a character (a lone surrogate). Encode it as UTF-8.`,
    );
  return value;
}

export function parseBody(bytes: Buffer): unknown {
  checkShape(bytes);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const suspicious = text.includes('__proto__') || text.includes('\\u');
    return JSON.parse(text, suspicious ? refuseUnfaithful : undefined);
  } catch (cause) {
    if (cause instanceof HotcellError) throw cause;
    throw new HotcellError('invalid', `The body is not JSON: ${messageOf(cause)}`, { cause });
  }
}
