/**
 * A stranger's output must not control the terminal: no colours, cursor moves, titles, reversed or invisible text. Every
 * unprintable character but line ends and tabs is shown by its name.
 */
const unprintable = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu;

function shown(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
  if (code === 0x7f) return '^?';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** CRLF is a line end; a lone carriage return would overwrite the line. */
export function visible(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unprintable, shown);
}

/** For a place that has only one line, like a cell of a table. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll('\n', '^J').replaceAll('\t', ' ');
}
