import { readFile } from 'node:fs/promises';
import { basename, extname, isAbsolute, normalize } from 'node:path';
import { filenameIn } from '@hotcell/contract/blocks.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { counted } from '@hotcell/contract/format.ts';
import { languageOfFile, languages } from '@hotcell/contract/languages.ts';
import { chunkOf } from '@hotcell/contract/log-rows.ts';
import { InputName } from '@hotcell/contract/names.ts';
import { type AskedLimits, limitNames, limitTable } from '@hotcell/contract/limits.ts';
import { emptyWorkspace } from '@hotcell/contract/workspace.ts';
import { type Block, type BundledFile, type RunRequest, WorkPath } from '@hotcell/contract/spec.ts';
import { unreadable } from '@hotcell/client/file-errors.ts';
import { isLocal } from './local-files.ts';
import { readNotebook } from './notebook.ts';
import type { Pair, RunOptions } from './run-options.ts';

const defaultLanguage = 'python';

/** Uploads a folder or file as a snapshot and returns its id. */
export type FreezePath = (path: string) => Promise<string>;
type Note = (text: string) => void;

/** Builds the request of a command line. It reads every file before it uploads anything. */
export async function buildRequest(
  files: readonly string[],
  options: RunOptions,
  freeze: FreezePath,
  note: Note = () => undefined,
): Promise<RunRequest> {
  const blocks = await blocksOf(files, options, note);
  return { blocks, ...(await buildTerms(options, freeze)) };
}

/** All of a request but its blocks: what a session is started with. */
export async function buildTerms(options: RunOptions, freeze: FreezePath): Promise<Omit<RunRequest, 'blocks'>> {
  const { file = [], param = [], input = [], env = [], label = [] } = options;
  const bundled = await Promise.all(file.map(bundle));
  const limits = limitsOf(options);
  const labels = options.name === undefined ? label : [...label, ['name', options.name] as const];
  return {
    ...(bundled.length > 0 && { files: bundled }),
    ...(param.length > 0 && { params: paramsOf(param) }),
    ...(options.policy !== undefined && { policy: options.policy }),
    ...(options.image !== undefined && { image: options.image }),
    ...(input.length > 0 && { inputs: await inputsOf(input, freeze) }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(env.length > 0 && { env: Object.fromEntries(env) }),
    ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
    ...(options.priority !== undefined && { priority: options.priority }),
    ...(options.publish !== undefined && { publish: options.publish }),
    ...(options.callback !== undefined && { callback: options.callback }),
    ...(await workspaceOf(options, freeze)),
  };
}

function wrong(message: string, cause?: unknown): HotcellError {
  return new HotcellError('invalid', message, { cause });
}

export async function blocksOf(files: readonly string[], options: RunOptions, note: Note): Promise<Block[]> {
  if (options.eval !== undefined && files.length > 0) throw wrong('-e and FILE exclude each other. Omit one of them.');
  if (options.eval !== undefined) return [{ language: options.lang ?? defaultLanguage, code: options.eval }];
  if (files.length === 0) throw wrong('Nothing to run. Name a FILE, - for stdin, or -e CODE.');
  const blocks: Block[] = [];
  for (const file of files) blocks.push(await blockOf(file, options.lang, note));
  return blocks;
}

async function blockOf(path: string, lang: string | undefined, note: Note): Promise<Block> {
  const code = textOf(path === '-' ? await readStdin() : await read(path), path);
  if (extname(path) === '.ipynb' && lang === undefined) return blockOfNotebook(code, basename(path), note);
  const language = lang ?? (path === '-' ? defaultLanguage : languageOfFile(languages, path)?.name);
  if (language === undefined)
    throw wrong(`Unknown file type ${extname(path) || basename(path)}. Name the language with --lang.`);
  return named({ language, code }, path === '-' ? undefined : basename(path));
}

/** So that a traceback names the file as its author does; a name in the code itself has precedence. */
function named(block: { language: string; code: string }, file: string | undefined): Block {
  if (file === undefined || filenameIn(block.code) !== undefined || !WorkPath.safeParse(file).success) return block;
  return { ...block, file };
}

function blockOfNotebook(text: string, file: string, note: Note): Block {
  const { block, cells, name } = readNotebook(text, file);
  note(
    `${file}: its ${counted(cells, 'code cell')} run as one program. The last value of a cell is not shown: print it.`,
  );
  return named(block, name);
}

async function read(
  path: string,
  ifFolder = `${path} is a folder. To pass data, use --input ${basename(path)}=${path}`,
): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw unreadable(path, cause, ifFolder);
  }
}

async function readStdin(): Promise<Buffer> {
  return Buffer.concat(await process.stdin.toArray());
}

function textOf(bytes: Buffer, path: string): string {
  const chunk = chunkOf(bytes);
  if ('text' in chunk) return chunk.text;
  throw wrong(`${path} is not UTF-8 text. Code must be; pass data with --input.`);
}

/** The file keeps its relative path in /work; a path that leads out of this folder keeps only its last part. */
async function bundle(path: string): Promise<BundledFile> {
  const plain = normalize(path);
  const inside = !isAbsolute(plain) && !plain.startsWith('..');
  const ifFolder = `${path} is a folder. Name its files one by one with --file, or pass it as data: --input ${basename(path)}=${path}`;
  return { path: inside ? plain : basename(plain), ...chunkOf(await read(path, ifFolder)) };
}

function typed([name, value]: Pair): [string, NonNullable<RunRequest['params']>] {
  try {
    return [name, JSON.parse(value)];
  } catch {
    // Not JSON: take it as text.
    return [name, value];
  }
}

export const paramsOf = (params: readonly Pair[]) => Object.fromEntries(params.map(typed));

async function workspaceOf({ workspace, workspacePublish }: RunOptions, freeze: FreezePath) {
  if (workspace === undefined) return workspacePublish === undefined ? {} : { workspacePublish };
  const source = workspace !== emptyWorkspace && isLocal(workspace) ? await freeze(workspace) : workspace;
  return { workspace: source, ...(workspacePublish !== undefined && { workspacePublish }) };
}

/** Parses each name before it uploads a folder for nothing. */
export async function inputsOf(inputs: readonly Pair[], freeze: FreezePath): Promise<Record<string, string>> {
  const sources: Record<string, string> = {};
  for (const [name, source] of inputs) {
    if (Object.hasOwn(sources, name)) throw wrong(`--input ${name} is given twice. Choose another name.`);
    const named = InputName.safeParse(name);
    if (!named.success) throw wrong(`--input ${name}: ${named.error.issues[0]?.message ?? 'is not a valid name'}`);
    sources[name] = isLocal(source) ? await freeze(source) : source;
  }
  return sources;
}

function limitsOf(options: RunOptions): AskedLimits {
  const asked = limitNames.map((name) => {
    const { option } = limitTable[name];
    return [name, option && options[option]];
  });
  return Object.fromEntries(asked.filter(([, value]) => value !== undefined));
}
