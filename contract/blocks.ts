import type { Issue } from './errors.ts';
import { frameLimits } from './frames.ts';
import { findLanguage, type Language } from './languages.ts';
import { type Block, type BundledFile, WorkPath } from './spec.ts';

/** A block, resolved: which language it is, where its code lies in /work, and what runs it. */
export interface ResolvedBlock {
  index: number;
  language: string | null;
  file: string | null;
  argv: readonly string[];
}

/**
 * What the blocks of a request mean, or every reason why they cannot be run: for admission, and again in the worker. The
 * bounds are cell-init's: what passes here, init does not refuse.
 */
export function resolveBlocks(
  blocks: readonly Block[],
  files: readonly BundledFile[],
  table: readonly Language[],
): { resolved: ResolvedBlock[]; issues: Issue[] } {
  const issues: Issue[] = [];
  const say = (path: string, message: string | undefined) => message !== undefined && issues.push({ path, message });
  const resolved = blocks.map((block, index): ResolvedBlock => {
    const at = `blocks[${index}]`;
    if ('argv' in block) {
      say(`${at}.argv`, argvProblem(block.argv));
      return { index, language: null, file: null, argv: block.argv };
    }
    const language = findLanguage(table, block.language);
    if (!language) {
      const known = table.map((one) => one.name).join(', ');
      say(`${at}.language`, `unknown language ${block.language}: this policy knows ${known || 'none'}`);
    }
    const named = block.file ?? filenameIn(block.code);
    say(block.file === undefined ? `${at}.code` : `${at}.file`, named && pathProblem(named));
    say(`${at}.code`, textProblem(block.code));
    const file = named ?? `block_${index}${language?.ending ?? ''}`;
    return {
      index,
      language: language?.name ?? null,
      file,
      // `./`: a file whose name begins with a dash is a file, not an option.
      argv: (language?.command ?? []).map((part) =>
        part.replace('{file}', () => (file.startsWith('-') ? `./${file}` : file)),
      ),
    };
  });
  for (const [index, file] of files.entries()) {
    say(`files[${index}].path`, pathProblem(file.path));
    if ('text' in file) say(`files[${index}].text`, textProblem(file.text));
  }
  issues.push(...clashes(resolved, files), ...sizeIssues(blocks, files));
  return { resolved, issues };
}

/** `# filename: x.py` in the first line, with the comment signs of the usual languages. */
export function filenameIn(code: string): string | undefined {
  const [first = ''] = code.split('\n', 1);
  const found = /^\s*(?:#|\/\/|--|<!--|\/\*)\s*filename:\s*(.+?)\s*(?:-->|\*\/)?\s*$/.exec(first);
  return found?.[1];
}

function pathProblem(path: string): string | undefined {
  const parsed = WorkPath.safeParse(path);
  if (!parsed.success)
    return `the file name ${JSON.stringify(path)} is not in the work folder: ${parsed.error.issues[0]?.message}`;
  if (!path.isWellFormed()) return 'the file name is not well-formed Unicode';
  if (path.split('/').some((part) => Buffer.byteLength(part) > frameLimits.nameBytes))
    return `a part of the file name is longer than ${frameLimits.nameBytes} bytes`;
  return undefined;
}

/** What cannot be said in UTF-8 would be changed on its way: then what runs is not what was asked. */
function textProblem(text: string): string | undefined {
  return text.isWellFormed() ? undefined : 'it is not well-formed Unicode: it holds half of a surrogate pair';
}

function argvProblem(argv: readonly string[]): string | undefined {
  if (argv[0] === '') return 'the program’s name is empty';
  if (argv.some((arg) => arg.includes('\0'))) return 'an argument cannot contain a NUL character';
  if (!argv.every((arg) => arg.isWellFormed())) return 'an argument is not well-formed Unicode';
  const bytes = argv.reduce((sum, arg) => sum + Buffer.byteLength(arg) + 1, 0);
  return bytes > frameLimits.argBytes
    ? `the arguments are longer than ${frameLimits.argBytes} bytes together`
    : undefined;
}

/** One path cannot be a file and a folder, and two bundled files cannot be one. Blocks may follow each other in a file. */
function clashes(blocks: readonly ResolvedBlock[], files: readonly BundledFile[]): Issue[] {
  const named = [
    ...files.map((file, i) => ({ path: file.path, where: `files[${i}].path` })),
    ...blocks.flatMap((block) =>
      block.file === null ? [] : [{ path: block.file, where: `blocks[${block.index}].file` }],
    ),
  ];
  const folders = new Map<string, string>();
  for (const { path, where } of named)
    for (let cut = path.indexOf('/'); cut > 0; cut = path.indexOf('/', cut + 1)) folders.set(path.slice(0, cut), where);
  const issues = named.flatMap(({ path, where }) => {
    const other = folders.get(path);
    return other === undefined
      ? []
      : [
          {
            path: where,
            message: `${JSON.stringify(path)} is a folder of ${other} and cannot be a file too: rename one`,
          },
        ];
  });
  const seen = new Set<string>();
  for (const [i, file] of files.entries()) {
    if (seen.has(file.path))
      issues.push({ path: `files[${i}].path`, message: `${JSON.stringify(file.path)} is there twice: rename one` });
    seen.add(file.path);
  }
  return issues;
}

function sizeIssues(blocks: readonly Block[], files: readonly BundledFile[]): Issue[] {
  const issues: Issue[] = [];
  const code = blocks.reduce((sum, block) => sum + ('code' in block ? Buffer.byteLength(block.code) : 0), 0);
  if (code > frameLimits.allCodeBytes)
    issues.push({
      path: 'blocks',
      message: `the code is ${code} bytes; a cell takes ${frameLimits.allCodeBytes} in all`,
    });
  const bundled = files.reduce((sum, file) => sum + bytesOfFile(file), 0);
  if (bundled > frameLimits.allFileBytes)
    issues.push({
      path: 'files',
      message: `the files are ${bundled} bytes; a cell takes ${frameLimits.allFileBytes}: make a snapshot of them and use it as an input`,
    });
  return issues;
}

function bytesOfFile(file: BundledFile): number {
  return 'text' in file ? Buffer.byteLength(file.text) : Math.floor((file.base64.length * 3) / 4);
}
