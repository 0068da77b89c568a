import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, isAbsolute, normalize } from 'node:path';
import { filenameIn } from '@hotcell/contract/blocks.ts';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { languageOfFile, languages } from '@hotcell/contract/languages.ts';
import { chunkOf } from '@hotcell/contract/log-rows.ts';
import { InputName } from '@hotcell/contract/names.ts';
import { type AskedLimits, limitNames, limitTable } from '@hotcell/contract/limits.ts';
import { type Block, type BundledFile, type RunRequest, WorkPath } from '@hotcell/contract/spec.ts';
import type { Pair, RunOptions } from './run-options.ts';

const defaultLanguage = 'python';

/** Turns a folder or file into a snapshot, through the API, and says which. */
export type Freeze = (path: string) => Promise<string>;

/** From the command line to what the API is asked; everything that is read here is read before anything is sent. */
export async function buildRequest(files: readonly string[], options: RunOptions, freeze: Freeze): Promise<RunRequest> {
  const { file = [], param = [], input = [], env = [], label = [] } = options;
  const blocks = await blocksOf(files, options);
  const bundled = await Promise.all(file.map(bundle));
  const limits = limitsOf(options);
  return {
    blocks,
    ...(bundled.length > 0 && { files: bundled }),
    ...(param.length > 0 && { params: Object.fromEntries(param.map(typed)) }),
    ...(options.policy !== undefined && { policy: options.policy }),
    ...(options.image !== undefined && { image: options.image }),
    ...(input.length > 0 && { inputs: await inputsOf(input, freeze) }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(env.length > 0 && { env: Object.fromEntries(env) }),
    ...(label.length > 0 && { labels: Object.fromEntries(label) }),
    ...(options.priority !== undefined && { priority: options.priority }),
    ...(options.publish !== undefined && { publish: options.publish }),
  };
}

function wrong(message: string, cause?: unknown): HotcellError {
  return new HotcellError('invalid', message, { cause });
}

async function blocksOf(files: readonly string[], options: RunOptions): Promise<Block[]> {
  if (options.eval !== undefined && files.length > 0) throw wrong('-e and FILE exclude each other: leave one away');
  if (options.eval !== undefined) return [{ language: options.lang ?? defaultLanguage, code: options.eval }];
  if (files.length === 0) throw wrong('there is nothing to run: name a FILE, - for stdin, or -e CODE');
  const blocks: Block[] = [];
  for (const file of files) blocks.push(await blockOf(file, options.lang));
  return blocks;
}

async function blockOf(path: string, lang: string | undefined): Promise<Block> {
  const code = textOf(path === '-' ? await readStdin() : await read(path), path);
  const language = lang ?? (path === '-' ? defaultLanguage : languageOfFile(languages, path)?.name);
  if (language === undefined)
    throw wrong(`the ending of ${path} is no language's that is known here: say it with --lang`);
  // A traceback then names the file as its author knows it; a name given in the code itself comes first.
  const file = path === '-' || filenameIn(code) !== undefined ? undefined : basename(path);
  return { language, code, ...(WorkPath.safeParse(file).success && file !== undefined && { file }) };
}

async function read(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw wrong(`${path} cannot be read: ${messageOf(cause)}`, cause);
  }
}

async function readStdin(): Promise<Buffer> {
  return Buffer.concat(await process.stdin.toArray());
}

function textOf(bytes: Buffer, path: string): string {
  const chunk = chunkOf(bytes);
  if ('text' in chunk) return chunk.text;
  throw wrong(`${path} is not UTF-8 text: code has to be`);
}

/** It lies in /work as it is named here; a path that leads out of here keeps only its last part. */
async function bundle(path: string): Promise<BundledFile> {
  const plain = normalize(path);
  const inside = !isAbsolute(plain) && !plain.startsWith('..');
  return { path: inside ? plain : basename(plain), ...chunkOf(await read(path)) };
}

function typed([name, value]: Pair): [string, NonNullable<RunRequest['params']>] {
  try {
    return [name, JSON.parse(value)];
  } catch {
    // Not JSON: then it is a text, as it stands.
    return [name, value];
  }
}

const elsewhere = /^(?:sha256:|s3:\/\/)|:outputs$/;

async function inputsOf(inputs: readonly Pair[], freeze: Freeze): Promise<Record<string, string>> {
  const sources: Record<string, string> = {};
  for (const [name, source] of inputs) {
    if (Object.hasOwn(sources, name)) throw wrong(`--input ${name} is given twice`);
    // Before a folder goes up for nothing.
    const named = InputName.safeParse(name);
    if (!named.success) throw wrong(`--input ${name}: ${named.error.issues[0]?.message ?? 'is no name of an input'}`);
    const isPath = !elsewhere.test(source) && (/^[./~]/.test(source) || source.includes('/') || existsSync(source));
    sources[name] = isPath ? await freeze(source) : source;
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
