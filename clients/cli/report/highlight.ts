import { type Html, html } from './html.ts';

/** What the words of a language look like. Each pattern is one search without nested repetition: a stranger wrote the code. */
interface Look {
  comment: string;
  string: string;
  keywords: string;
}

/** A string that does not end goes as far as its line: no quote is the beginning of the same search twice. */
const quoted = String.raw`"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?`;
const hash = '#[^\n]*';
const slashes = String.raw`\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?`;

const script: Look = {
  comment: slashes,
  string: `${quoted}|\`(?:[^\`\\\\]|\\\\[^])*\`?`,
  keywords:
    'async await break case catch class const continue default delete do else enum export extends false finally for from function if import in instanceof interface let new null of return static switch this throw true try type typeof undefined var void while yield',
};
const shell: Look = {
  comment: hash,
  string: `"(?:[^"\\\\]|\\\\[^])*"?|'[^']*'?`,
  keywords:
    'case do done elif else esac exit export fi for function if in local read return set shift then until while',
};

const looks: Readonly<Record<string, Look>> = {
  python: {
    comment: hash,
    string: `"""(?:[^"]|"(?!""))*(?:""")?|'''(?:[^']|'(?!''))*(?:''')?|${quoted}`,
    keywords:
      'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield',
  },
  bash: shell,
  sh: shell,
  javascript: script,
  typescript: script,
  r: {
    comment: hash,
    string: quoted,
    keywords: 'FALSE NULL NA TRUE break else for function if in next repeat return while',
  },
  powershell: {
    comment: hash,
    string: quoted,
    keywords:
      'begin catch else elseif end finally for foreach function if in param process return switch throw try while',
  },
};

/** Code whose comments, strings, numbers and keywords have classes. */
export function highlighted(code: string, language: string | null): Html {
  const look = language !== null && Object.hasOwn(looks, language) ? looks[language] : undefined;
  if (!look) return html`${code}`;
  const keywords = new Set(look.keywords.split(' '));
  const words = new RegExp(
    String.raw`(?<comment>${look.comment})|(?<string>${look.string})|(?<number>\b\d[\w.]*)|(?<word>[A-Za-z_]\w*)`,
    'g',
  );
  const parts: Html[] = [];
  let plain = 0;
  for (const found of code.matchAll(words)) {
    const kind = kindOf(found.groups ?? {}, keywords);
    if (kind === undefined) continue;
    parts.push(html`${code.slice(plain, found.index)}<span class="${kind}">${found[0]}</span>`);
    plain = found.index + found[0].length;
  }
  return html`${parts}${code.slice(plain)}`;
}

function kindOf({ comment, string, number, word }: Record<string, string | undefined>, keywords: ReadonlySet<string>) {
  if (comment !== undefined) return 'comment';
  if (string !== undefined) return 'string';
  if (number !== undefined) return 'number';
  return word !== undefined && keywords.has(word) ? 'keyword' : undefined;
}
