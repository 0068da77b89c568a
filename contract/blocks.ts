import type { Issue } from './errors.ts';
import { formatBytes } from './format.ts';
import { frameLimits } from './frames.ts';
import { findLanguage, type Language } from './languages.ts';
import { type Block, type BundledFile, WorkPath } from './spec.ts';

/** A resolved block: its language, the file in /work that holds its code, and the command that runs it. */
export interface ResolvedBlock {
  index: number;
  language: string | null;
  file: string | null;
  argv: readonly string[];
}

/**
 * Resolves the blocks of a request, or lists every reason why they can't run: for admission, and again in the worker. The
 * bounds are those of cell-init, so init refuses nothing that passes here.
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
      say(`${at}.language`, `Unknown language "${block.language}". This policy allows: ${known || 'none'}.`);
    }
    const named = block.file ?? filenameIn(block.code);
    say(block.file === undefined ? `${at}.code` : `${at}.file`, named && pathProblem(named));
    say(`${at}.code`, textProblem(block.code));
    const file = named ?? `block_${index}${language?.ending ?? ''}`;
    return {
      index,
      language: language?.name ?? null,
      file,
      // `./`, or the program would take a file name that begins with a dash for an option.
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

/** The name that a block without one gets. */
const unnamed = /^block_\d+(?:\.[A-Za-z0-9]{1,15})?$/;

/** What its author called a block, as a request or a result has it. */
export function authorsName(
  block: { file?: string | null | undefined; code?: string } | { argv: readonly string[] } | undefined,
): string | null {
  if (block === undefined || 'argv' in block) return null;
  const named = block.file ?? (block.code === undefined ? undefined : filenameIn(block.code));
  return named === undefined || unnamed.test(named) ? null : named;
}

const commentSigns = ['#', '//', '--', '<!--', '/*'];
const commentEnds = ['-->', '*/'];
const filenameKey = 'filename:';

/**
 * `# filename: x.py` in the first line, with the comment signs of the usual languages. Cut by hand, each letter once: a
 * pattern with three runs of white space in a row takes the cube of what a stranger puts there.
 */
export function filenameIn(code: string): string | undefined {
  const end = code.indexOf('\n');
  const line = (end < 0 ? code : code.slice(0, end)).trim();
  const sign = commentSigns.find((one) => line.startsWith(one));
  const comment = sign && line.slice(sign.length).trimStart();
  if (!comment?.startsWith(filenameKey)) return undefined;
  const name = comment.slice(filenameKey.length);
  const closing = commentEnds.find((one) => name.endsWith(one)) ?? '';
  const named = name.slice(0, name.length - closing.length).trim();
  // A file whose lines end in another way is one line here: what follows the name is code.
  return named === '' || /[\r\u2028\u2029]/.test(named) ? undefined : named;
}

function pathProblem(path: string): string | undefined {
  const parsed = WorkPath.safeParse(path);
  if (!parsed.success)
    return `The file name ${JSON.stringify(path)} ${parsed.error.issues[0]?.message ?? 'is invalid'}.`;
  if (!path.isWellFormed()) return 'The file name is not well-formed Unicode.';
  if (path.split('/').some((part) => Buffer.byteLength(part) > frameLimits.nameBytes))
    return `A part of the file name is longer than ${frameLimits.nameBytes} bytes.`;
  return undefined;
}

/** Text that UTF-8 can't encode would change on its way, and other code would run than the caller asked for. */
function textProblem(text: string): string | undefined {
  return text.isWellFormed() ? undefined : 'The text is not well-formed Unicode: it contains half of a surrogate pair.';
}

function argvProblem(argv: readonly string[]): string | undefined {
  if (argv[0] === '') return 'The name of the program is empty.';
  if (argv.some((arg) => arg.includes('\0')))
    return 'An argument contains a NUL character, which no program can receive. Remove it.';
  if (!argv.every((arg) => arg.isWellFormed())) return 'An argument is not well-formed Unicode.';
  const bytes = argv.reduce((sum, arg) => sum + Buffer.byteLength(arg) + 1, 0);
  return bytes > frameLimits.argBytes
    ? `The arguments take more than ${frameLimits.argBytes} bytes. Put long values into params or a file.`
    : undefined;
}

/** No path is both a file and a folder, and two bundled files never share one. Blocks may reuse a file one after another. */
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
    if (other === undefined) return [];
    return [{ path: where, message: `${JSON.stringify(path)} is already a folder of ${other}. Rename one of them.` }];
  });
  const seen = new Set<string>();
  for (const [i, file] of files.entries()) {
    if (seen.has(file.path))
      issues.push({
        path: `files[${i}].path`,
        message: `Two bundled files are named ${JSON.stringify(file.path)}. Rename one of them.`,
      });
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
      message: `The code takes ${formatBytes(code)}; a run can have at most ${formatBytes(frameLimits.allCodeBytes)}. Pass data as an input.`,
    });
  const bundled = files.reduce((sum, file) => sum + bytesOfFile(file), 0);
  if (bundled > frameLimits.allFileBytes)
    issues.push({
      path: 'files',
      message: `The files take ${formatBytes(bundled)}; a run can bundle at most ${formatBytes(frameLimits.allFileBytes)}. Freeze them as a snapshot and use it as an input.`,
    });
  return issues;
}

export function bytesOfFile(file: BundledFile): number {
  return 'text' in file ? Buffer.byteLength(file.text) : Math.floor((file.base64.length * 3) / 4);
}
