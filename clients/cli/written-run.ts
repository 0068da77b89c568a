import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { chunkOf } from '@hotcell/contract/log-rows.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import { type BundledFile, RunRequest, WorkPath } from '@hotcell/contract/spec.ts';
import { z } from 'zod';
import { buildRequest, type FreezePath } from './build-request.ts';
import { unreadable } from '@hotcell/client/file-errors.ts';
import { isLocal } from './local-files.ts';

const oneOrMore = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);
const { blocks: _blocks, files: _files, callback: _callback, ...others } = RunRequest.partial().shape;

/** A run as people write it in YAML: its code beside the file, and paths seen from the file's folder. */
export const writtenRun = {
  ...others,
  script: oneOrMore.optional().describe('files of code, one block each'),
  code: z.string().optional(),
  language: z.string().optional(),
  files: z.array(z.string()).optional().describe('files that are not executed, in /work under these paths'),
};
type WrittenCode = Pick<z.infer<z.ZodObject<typeof writtenRun>>, 'script' | 'code' | 'language' | 'files'>;

export async function yamlIn(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw unreadable(path, cause);
  });
  const { parse } = await import('yaml');
  try {
    return parse(text, { maxAliasCount: 0 });
  } catch (cause) {
    throw new HotcellError('invalid', `${path} is not YAML: ${messageOf(cause)}`, { cause });
  }
}

/** `at` says where in the file it stands. */
export async function codeBeside(folder: string, at: string, { script, code, language, files = [] }: WrittenCode) {
  if ((script === undefined) === (code === undefined))
    throw new HotcellError('invalid', `${at}: say what to run, either with "script" or with "code".`);
  const scripts = (typeof script === 'string' ? [script] : (script ?? [])).map((file) => resolve(folder, file));
  const options = { ...(code !== undefined && { eval: code }), ...(language !== undefined && { lang: language }) };
  const { blocks } = await buildRequest(scripts, options, (path) => Promise.resolve(path));
  const bundled = await Promise.all(files.map((file) => bundle(folder, at, file)));
  return { blocks, ...(bundled.length > 0 && { files: bundled }) };
}

async function bundle(folder: string, where: string, file: string): Promise<BundledFile> {
  const path = parseAs(WorkPath, file, `${where}.files: ${file}`);
  const at = resolve(folder, file);
  const bytes = await readFile(at).catch((cause: unknown) => {
    throw unreadable(at, cause);
  });
  return { path, ...chunkOf(bytes) };
}

/** Uploads each local folder or file once; other sources stay as they are. */
export function uploadsBeside(folder: string, freeze: FreezePath): FreezePath {
  const uploads = new Map<string, string>();
  return async (source) => {
    if (!isLocal(source, folder)) return source;
    const at = resolve(folder, source);
    const id = uploads.get(at) ?? (await freeze(at));
    uploads.set(at, id);
    return id;
  };
}

export async function uploadedInputs(inputs: Readonly<Record<string, string>>, upload: FreezePath) {
  const sources: Record<string, string> = {};
  for (const [input, source] of Object.entries(inputs)) sources[input] = await upload(source);
  return sources;
}
