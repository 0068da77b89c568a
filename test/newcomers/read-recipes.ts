/** A code block of a page that a reader pastes, and what it prints. */
export interface Recipe {
  page: string;
  line: number;
  language: 'sh' | 'python' | 'ts';
  code: string;
  /** Of the `text` block that follows it. */
  expected: string | undefined;
}

const runnable = new Set(['sh', 'python', 'ts']);
/** Shown and not pasted. A block without a language could hide a command from the test. */
const shown = new Set(['text', 'json', 'yaml', 'mermaid']);

/** Every block that is to be pasted; `sh not-run: REASON` says why one is not. */
export function recipesIn(page: string, markdown: string): Recipe[] {
  const recipes: Recipe[] = [];
  let open: { at: number; info: string } | undefined;
  let before: Recipe | undefined;
  const lines = markdown.split('\n');
  for (const [at, line] of lines.entries()) {
    if (!line.startsWith('```')) continue;
    if (!open) {
      open = { at, info: line.slice(3).trim() };
      continue;
    }
    const text = lines.slice(open.at + 1, at).join('\n');
    const [language = '', ...reason] = open.info.split(' ');
    if (!runnable.has(language) && !shown.has(language))
      throw new Error(`${page}:${open.at + 1}: a code block of the language "${language}". Name one that is known.`);
    if (reason.length > 0 && !/^not-run: \S/.test(reason.join(' ')))
      throw new Error(`${page}:${open.at + 1}: "${open.info}". Write \`sh not-run: REASON\`.`);
    if (language === 'text' && before) before.expected = text;
    before = undefined;
    if (runnable.has(language) && reason.length === 0) {
      before = { page, line: open.at + 1, language: language as Recipe['language'], code: text, expected: undefined };
      recipes.push(before);
    }
    open = undefined;
  }
  return recipes;
}
