import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { routes } from '@hotcell/contract/api/routes.ts';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { chunkOf } from '@hotcell/contract/log-rows.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import { type BundledFile, RunRequest, WorkPath } from '@hotcell/contract/spec.ts';
import { Callback } from '@hotcell/contract/webhook.ts';
import { Parallel, StepName, stepRules, WorkflowName } from '@hotcell/contract/workflow.ts';
import type { Call } from '@hotcell/contract/api/call.ts';
import { z } from 'zod';
import { buildRequest, type FreezePath } from './build-request.ts';
import { isLocal, unreadable } from './local-files.ts';

type NewWorkflow = Call<typeof routes.createWorkflow>['json'];

const oneOrMore = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);
const { blocks: _blocks, files: _files, callback: _callback, ...others } = RunRequest.partial().shape;

/** A step as people write it: its code beside the file, and paths seen from the file's folder. */
const FileStep = z.strictObject({
  ...stepRules,
  ...others,
  script: oneOrMore.optional().describe('files of code, one block each'),
  code: z.string().optional(),
  language: z.string().optional(),
  files: z.array(z.string()).optional().describe('files that are not executed, in /work under these paths'),
});
type FileStep = z.infer<typeof FileStep>;

const WorkflowFile = z.strictObject({
  name: WorkflowName,
  parallel: Parallel.optional(),
  callback: Callback.optional(),
  policy: z.string().optional().describe('for every step that names none'),
  steps: z.record(StepName, FileStep),
});

/** Reads a workflow from YAML, with the code that it names. Local folders and files that are inputs are uploaded. */
export async function readWorkflowFile(path: string, freeze: FreezePath): Promise<NewWorkflow> {
  const parsed = parseAs(WorkflowFile, await yamlIn(path), path);
  const folder = dirname(path);
  const steps: NewWorkflow['steps'] = {};
  // Every file is read before any folder is uploaded.
  const blocks = new Map<string, Awaited<ReturnType<typeof codeOf>>>();
  for (const [name, step] of Object.entries(parsed.steps)) blocks.set(name, await codeOf(folder, name, step));
  const uploads = new Map<string, string>();
  const upload: FreezePath = async (source) => {
    if (!isLocal(source, folder)) return source;
    const at = resolve(folder, source);
    const id = uploads.get(at) ?? (await freeze(at));
    uploads.set(at, id);
    return id;
  };
  for (const [name, step] of Object.entries(parsed.steps)) {
    const { needs, onFailedNeed, when, over, reuse, script: _s, code: _c, language: _l, files: _f, ...run } = step;
    const policy = run.policy ?? parsed.policy;
    const inputs = run.inputs && (await uploaded(run.inputs, upload));
    steps[name] = {
      ...(needs && { needs }),
      ...(onFailedNeed && { onFailedNeed }),
      ...(when && { when }),
      ...(over && { over: 'files' in over ? { files: await upload(over.files) } : over }),
      ...(reuse !== undefined && { reuse }),
      run: { ...run, ...blocks.get(name), ...(policy && { policy }), ...(inputs && { inputs }) } as RunRequest,
    };
  }
  const { name, parallel, callback } = parsed;
  return { name, ...(parallel && { parallel }), ...(callback !== undefined && { callback }), steps };
}

async function yamlIn(path: string): Promise<unknown> {
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

async function codeOf(folder: string, name: string, { script, code, language, files = [] }: FileStep) {
  if ((script === undefined) === (code === undefined))
    throw new HotcellError('invalid', `steps.${name}: say what to run, either with "script" or with "code".`);
  const scripts = (typeof script === 'string' ? [script] : (script ?? [])).map((file) => resolve(folder, file));
  const options = { ...(code !== undefined && { eval: code }), ...(language !== undefined && { lang: language }) };
  const { blocks } = await buildRequest(scripts, options, (path) => Promise.resolve(path));
  const bundled = await Promise.all(files.map((file) => bundle(folder, name, file)));
  return { blocks, ...(bundled.length > 0 && { files: bundled }) };
}

async function bundle(folder: string, name: string, file: string): Promise<BundledFile> {
  const path = parseAs(WorkPath, file, `steps.${name}.files: ${file}`);
  const at = resolve(folder, file);
  const bytes = await readFile(at).catch((cause: unknown) => {
    throw unreadable(at, cause);
  });
  return { path, ...chunkOf(bytes) };
}

async function uploaded(inputs: Readonly<Record<string, string>>, upload: FreezePath) {
  const sources: Record<string, string> = {};
  for (const [input, source] of Object.entries(inputs)) sources[input] = await upload(source);
  return sources;
}
