/**
 * What a stranger's program wrote must not command the terminal that shows it: no colours, no cursor, no titles, no
 * reversed or invisible text. Everything but line ends and tabs that is not printed is shown as what it is.
 */
const unprintable = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu;

function shown(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
  if (code === 0x7f) return '^?';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** A line end of Windows is a line end; a lone carriage return would write over what stands there. */
export function visible(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unprintable, shown);
}

/** For a place where there is one line and no more, like a cell of a table. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll('\n', '^J').replaceAll('\t', ' ');
}
