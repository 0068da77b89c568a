const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
// Control characters, and the marks that turn the direction of text: both make a name look like another one.
const unshowable = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/u;

/** A name's bytes as text: % and everything unprintable as %XX. Reversible, so that two names never look alike. */
export function encodeName(name: Uint8Array): string {
  const text = textOf(name);
  if (text !== undefined && !unshowable.test(text)) return text.replaceAll('%', '%25');
  let encoded = '';
  for (const byte of name)
    encoded +=
      byte > 0x20 && byte < 0x7f && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return encoded;
}

function textOf(name: Uint8Array): string | undefined {
  try {
    return utf8.decode(name);
  } catch {
    // Bytes that are not UTF-8 have no text.
    return undefined;
  }
}

/** The path of an output if every system can have it, or why not. */
export function representable(path: Uint8Array): { path: string } | { reason: string } {
  const text = textOf(path);
  if (text === undefined) return { reason: 'its name is not UTF-8' };
  if (unshowable.test(text)) return { reason: 'its name has control or direction characters' };
  // Init walks by descriptors and can't send such a path; the host does not rely on that.
  if (text === '' || text.split('/').some((part) => part === '' || part === '.' || part === '..'))
    return { reason: 'its path is not a plain relative path' };
  return { path: text };
}
