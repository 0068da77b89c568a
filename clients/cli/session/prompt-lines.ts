/**
 * Whether lines at a prompt are a whole step: not while brackets, a string of several lines or a block of Python are
 * open. It is a convenience, and an empty line always ends a step: what is right, Python itself says.
 */
export function isWhole(lines: readonly string[]): boolean {
  const last = lines.at(-1) ?? '';
  const [first = ''] = lines;
  if (first.startsWith('$')) return !last.endsWith('\\');
  const open = openAt(lines.join('\n'));
  if (open === 'string') return false;
  if (last.trim() === '') return true;
  if (open === 'bracket' || last.endsWith('\\')) return false;
  // A cell magic and a decorator are followed by more.
  if (first.startsWith('%%') || first.startsWith('@')) return false;
  return !lines.some(
    (line) => (line.trimEnd().endsWith(':') && !line.trimStart().startsWith('#')) || /^[ \t]/.test(line),
  );
}

/** What is still open at the end of a text. Each letter is looked at once. */
function openAt(text: string): 'string' | 'bracket' | undefined {
  let depth = 0;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const here = text[at] ?? '';
    if (quote !== '') {
      if (here === '\\') at++;
      else if (text.startsWith(quote, at)) {
        at += quote.length - 1;
        quote = '';
      } else if (here === '\n' && quote.length === 1) quote = '';
    } else if (here === '#') {
      const end = text.indexOf('\n', at);
      at = end < 0 ? text.length : end;
    } else if (here === '"' || here === "'") {
      quote = text.startsWith(here.repeat(3), at) ? here.repeat(3) : here;
      at += quote.length - 1;
    } else if ('([{'.includes(here)) depth++;
    else if (')]}'.includes(here)) depth--;
  }
  if (quote.length === 3) return 'string';
  return depth > 0 ? 'bracket' : undefined;
}
